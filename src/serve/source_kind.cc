// SPDX-License-Identifier: Apache-2.0
#include "serve/source_kind.h"

#include <sys/stat.h>

#include "base/strings.h"
#include "collect/control.h"
#include "collect/files.h"
#include "flows/optimize_progress.h"
#include "flows/trends.h"

namespace gapless::internal {
namespace {

bool IsFolder(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
}

// A pipe can be read only once, and is left to the readers of recordings.
bool IsPlainFile(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode);
}

bool IsOptimizeFolder(const std::string& path) {
  constexpr std::string_view kJournalHead = "{\"gapless_optimize\"";
  return ReadProgress(path).has_value() || ContentOf(path + "/journal.jsonl", kJournalHead.size()) == kJournalHead;
}

bool IsJobUnderWay(const std::string& path) {
  const auto control = ControlBlock::Open(path);
  return control && control->IsUnderWay();
}

// The envelope of a document comes first.
bool IsOptimizeDocument(std::string_view beginning) {
  const size_t envelope = beginning.find("\"gapless\"");
  const size_t end = beginning.find('}');
  return envelope != std::string_view::npos && end != std::string_view::npos && envelope < end &&
         beginning.substr(envelope, end - envelope).find("\"command\": \"optimize\"") != std::string_view::npos;
}

}  // namespace

// SQLite is the form of other recordings, too: one is a history if it has a history's tables.
SourceKind KindOfSource(const std::string& path) {
  constexpr std::string_view kSqlite("SQLite format 3\0", 16);
  constexpr size_t kBeginning = 512;
  for (const std::string_view prefix : {"sqlite:", "postgresql:", "postgres:"})
    if (path.starts_with(prefix)) return SourceKind::kHistory;
  if (IsFolder(path)) {
    if (IsOptimizeFolder(path)) return SourceKind::kOptimize;
    return IsJobUnderWay(path) ? SourceKind::kJob : SourceKind::kRecording;
  }
  if (!IsPlainFile(path)) return SourceKind::kRecording;
  const std::string beginning = ContentOf(path, kBeginning);
  if (beginning.starts_with(kSqlite)) return IsHistory(path) ? SourceKind::kHistory : SourceKind::kRecording;
  return IsOptimizeDocument(beginning) ? SourceKind::kOptimize : SourceKind::kRecording;
}

}  // namespace gapless::internal
