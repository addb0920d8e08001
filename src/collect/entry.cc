// SPDX-License-Identifier: Apache-2.0
// Enters a run directory: either alone, or together with the other launchers of one job. Each launcher of a job
// gets its own file names; the first one makes the directory.
//
// Several launchers start at the same time on different hosts, and one may leave (its command was not found) while
// another enters. So an attempt may find the directory or the control block vanished; it then starts anew, up to
// 100 times.
#include "collect/entry.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/strings.h"
#include "collect/manifest.h"
#include "collect/private_files.h"

namespace gapless::internal {
namespace {

Unexpected NotEmpty(const RunFolder& run) {
  return Fail(ErrorCode::kUsage, "the folder for the run is not empty", run.name(),
              "name another with -o; nothing of an earlier run is replaced");
}

constexpr int kMaxEntries = 100;

// None: it vanished while we looked, and is to be looked for anew.
Result<std::optional<Entry>> TryToEnter(RunFolder& run, const std::optional<JobTask>& task) {
  if (run.IsEmpty()) {
    auto control = ControlBlock::MakeIn(run.descriptor(), run.path(), task);
    if (run.IsGone()) return std::optional<Entry>();
    if (control) {
      control->Hold();
      return std::optional<Entry>(Entry{.folder = std::move(run), .control = std::move(*control)});
    }
    if (control.error().code != ErrorCode::kUsage) return Unexpected{control.error()};
  }
  if (!task) return NotEmpty(run);
  auto control = ControlBlock::OpenIn(run.descriptor(), run.path());
  if (!control && run.IsEmpty()) return std::optional<Entry>();
  if (!control) return NotEmpty(run);
  control->Hold();
  if (control->IsGone()) return std::optional<Entry>();
  if (!control->MayJoin(*task)) return NotEmpty(run);
  return std::optional<Entry>(Entry{.folder = std::move(run),
                                    .control = std::move(*control),
                                    .first = false,
                                    .suffix = StrCat("-", task->task),
                                    .launcher = static_cast<uint64_t>(task->task) + 1});
}

}  // namespace

std::string Entry::NameOf(std::string_view stem, std::string_view extension) const {
  return StrCat(stem, suffix, extension);
}

Result<Entry> EnterRun(std::string_view wanted, bool shared, const std::optional<JobTask>& task) {
  for (int attempt = 1;; ++attempt) {
    GAPLESS_ASSIGN(auto run, RunFolder::Make(wanted, shared));
    auto entry = TryToEnter(run, task);
    if (!entry) {
      if (run.made()) ::rmdir(run.path().c_str());  // while it is empty
      return Unexpected{entry.error()};
    }
    if (*entry) return std::move(**entry);
    if (attempt == kMaxEntries) return NotEmpty(run);
  }
}

// The last one to leave removes what all share. `tools` is only removed from a directory that nobody else can
// change: removing follows names.
void LeaveRun(Entry& entry, bool made_manifest) {
  entry.control.Hold();
  const int folder = entry.folder.descriptor();
  if (made_manifest) ::unlinkat(folder, entry.NameOf(kManifestStem, kManifestEnd).c_str(), 0);
  const std::vector<std::string> names = NamesIn(folder);
  const bool last =
      std::none_of(names.begin(), names.end(), [](const std::string& name) { return name.starts_with(kManifestStem); });
  if (last) {  // the control block at the end: who finds none finds nothing of the run
    std::error_code ignored;
    if (ChangeableByOthers(entry.folder.path()).empty())
      std::filesystem::remove_all(entry.folder.File("tools"), ignored);
    ::unlinkat(folder, "control", 0);
    // One of the others of the job may have made it.
    if (entry.folder.made() || !entry.first) ::rmdir(entry.folder.path().c_str());
  }
  entry.control.Release();
}

}  // namespace gapless::internal
