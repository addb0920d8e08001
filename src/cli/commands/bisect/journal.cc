// SPDX-License-Identifier: Apache-2.0
// Reads and appends the journal of a bisection.
//
// The first line is a mark with the search's key; each other line is a commit, a tab, and its value or "skip". A last
// line that was cut off is dropped, and the file is rewritten without it, so that the next line does not join it. A
// journal of another search is an error, not overwritten: it may have taken hours.
//
//   gapless bisect 1<tab>REPOSITORY GOOD BAD BUILD -- COMMAND
//   3f2a91c0de…<tab>177.4
//   0020abcdef…<tab>skip
#include "cli/commands/bisect/journal.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <span>

#include "base/strings.h"
#include "collect/files.h"
#include "store/history.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kMark = "gapless bisect 1\t";
constexpr std::string_view kCannotRun = "skip";
constexpr size_t kDigestDigits = 16;  // hexadecimal digits of a digest that name a file
constexpr size_t kMaxBytes = size_t{1} << 24;

std::string LineOf(const JournalEntry& entry) {
  return entry.value ? StrCat(entry.sha, "\t", *entry.value, "\n") : StrCat(entry.sha, "\t", kCannotRun, "\n");
}

// Returns the run of a line; absent if the line is damaged, which costs one run and no more.
std::optional<JournalEntry> EntryFrom(std::string_view line) {
  const auto fields = Split(line, '\t');
  if (fields.size() != 2 || fields[0].empty()) return std::nullopt;
  if (fields[1] == kCannotRun) return JournalEntry{std::string(fields[0]), std::nullopt};
  double value = 0;
  const auto [end, error] = std::from_chars(fields[1].data(), fields[1].data() + fields[1].size(), value);
  if (error != std::errc() || end != fields[1].data() + fields[1].size() || !(value > 0) || !std::isfinite(value))
    return std::nullopt;
  return JournalEntry{std::string(fields[0]), value};
}

}  // namespace

// Reads the runs of an interrupted search with the same key, or begins a new file. The folder is made for its owner
// only.
Result<Journal> Journal::Open(std::string path, const std::string& key, bool anew) {
  Journal journal;
  journal.path_ = std::move(path);
  const std::string folder = std::filesystem::path(journal.path_).parent_path().string();
  if (!folder.empty()) GAPLESS_TRY(MakeFolders(folder, 0700));
  const std::string head = StrCat(kMark, key, "\n");
  std::string text = ContentOf(journal.path_, kMaxBytes);
  if (!anew && !text.empty() && !text.starts_with(head)) {
    if (!text.starts_with(kMark))
      return Fail(ErrorCode::kInput, "cannot continue: this file is not a journal of gapless bisect", journal.path_,
                  "name another file");
    return Fail(ErrorCode::kInput, "cannot continue: this journal belongs to another search", journal.path_,
                "add --restart to begin again");
  }
  std::string kept = head;
  if (!anew && !text.empty()) {
    text.resize(text.rfind('\n') + 1);
    const std::string_view rest = std::string_view(text).substr(head.size());
    for (const std::string_view line : Split(rest, '\n')) {
      auto entry = EntryFrom(line);
      if (!entry) continue;
      kept += LineOf(*entry);
      journal.entries_.push_back(std::move(*entry));
    }
  }
  GAPLESS_TRY(WriteFileAtomically(journal.path_, kept, 0600));
  return journal;
}

// Appends one line and closes the file, so that a run survives the end of this program.
Result<void> Journal::Add(const JournalEntry& entry) {
  std::FILE* const file = std::fopen(path_.c_str(), "ae");
  if (file == nullptr) return SystemFailure("cannot write the journal", path_, errno);
  const std::string line = LineOf(entry);
  const bool written = std::fwrite(line.data(), 1, line.size(), file) == line.size();
  if (std::fclose(file) != 0 || !written) return SystemFailure("cannot write the journal", path_, errno);
  entries_.push_back(entry);
  return {};
}

// Names the file by a digest of the key, so that searches in different repositories do not meet.
std::string DefaultJournalPath(const std::string& key) {
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  const std::string base =
      state != nullptr && *state == '/' ? state : StrCat(home == nullptr ? "" : home, "/.local/state");
  return StrCat(base, "/gapless/bisect-", DigestOf(std::span(&key, 1)).substr(0, kDigestDigits), ".tsv");
}

}  // namespace gapless::internal
