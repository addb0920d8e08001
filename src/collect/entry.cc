// SPDX-License-Identifier: Apache-2.0
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

Result<Entry> Join(const RunFolder& run, const JobTask& task) {
  auto control = ControlBlock::OpenIn(run.descriptor(), run.path());
  if (!control || !control->MayJoin(task)) return NotEmpty(run);
  return Entry{.control = std::move(*control),
               .first = false,
               .suffix = StrCat("-", task.task),
               .launcher = static_cast<uint64_t>(task.task) + 1};
}

}  // namespace

std::string Entry::NameOf(std::string_view stem, std::string_view extension) const {
  return StrCat(stem, suffix, extension);
}

Result<Entry> EnterRun(const RunFolder& run, const std::optional<JobTask>& task) {
  if (run.IsEmpty()) {
    auto control = ControlBlock::MakeIn(run.descriptor(), run.path(), task);
    if (control) return Entry{.control = std::move(*control)};
    if (control.error().code != ErrorCode::kUsage) return Unexpected{control.error()};
  }
  if (!task) return NotEmpty(run);
  return Join(run, *task);
}

void LeaveRun(const RunFolder& run, const Entry* entry) {
  const int folder = run.descriptor();
  if (entry != nullptr) {
    ::unlinkat(folder, entry->NameOf(kManifestStem, kManifestEnd).c_str(), 0);
    const std::vector<std::string> names = NamesIn(folder);
    const bool last = std::none_of(names.begin(), names.end(),
                                   [](const std::string& name) { return name.starts_with(kManifestStem); });
    if (last) {
      ::unlinkat(folder, "control", 0);
      std::error_code ignored;
      if (ChangeableByOthers(run.path()).empty()) std::filesystem::remove_all(run.File("tools"), ignored);
    }
  }
  // Where others of the job made it, the last one takes it away.
  if (run.made() || (entry != nullptr && !entry->first)) ::rmdir(run.path().c_str());
}

}  // namespace gapless::internal
