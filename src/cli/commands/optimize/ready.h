// SPDX-License-Identifier: Apache-2.0
// What must be known before anything is tried: a recording of the job, what was found in it, the machine.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "ingest/load.h"
#include "optimize/candidates.h"
#include "optimize/job_runner.h"
#include "predict/advice.h"

namespace gapless::internal {

// A recording and what was found in it; absent parts: nothing could be recorded.
struct ProfiledJob {
  std::unique_ptr<LoadedRun> loaded{};
  std::unique_ptr<Tables> tables{};
  std::optional<Advice> advice{};
  std::vector<Bottleneck> bottlenecks{};
  RunSample sample{};
};

// Runs the command once, into `folder`: under the profiler, and looks at the recording; or else for some steps only. An
// error: the command fails.
Result<ProfiledJob> Record(const RunRequest& request, const std::string& folder, bool profile,
                           const Arguments& arguments, const Session& session);
// The bottlenecks of a report, as `gapless analyze --json` writes it.
Result<std::vector<Bottleneck>> BottlenecksFrom(const std::string& path);

FixContext ContextOf(const ProfiledJob& recorded, const RunRequest& request);
// "2 processors · torch 2.15.0", for the head of a report.
std::string AboutOf(const FixContext& context, const RunSample& sample);
// The user's own fixes: --fix FILE.py[=exact|rounding|stochastic|training]. The texts live in `names`.
struct OwnFixes {
  std::vector<std::unique_ptr<std::string>> names{};
  std::vector<Fix> fixes{};
};
Result<OwnFixes> OwnFixesFrom(const std::vector<std::string>& words);

}  // namespace gapless::internal
