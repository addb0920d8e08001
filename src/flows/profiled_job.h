// SPDX-License-Identifier: Apache-2.0
// The facts about a job before fixes are tried: its recording, its bottlenecks, its machine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "flows/analysis.h"
#include "optimize/fix_item.h"
#include "trial/run_once.h"

namespace gapless::internal {

// Facts that one run of the unchanged command showed.
struct ProfiledJob {
  std::unique_ptr<RunAnalysis> analysis{};  // null: nothing was recorded
  std::vector<Bottleneck> bottlenecks{};    // ranked
  RunSample sample{};
  std::string warning{};  // why nothing is predicted; empty: something is, or no recording was asked for
};

// Runs the command once under the profiler, into `folder`, and analyses the recording. An error: the command fails.
Result<ProfiledJob> ProfileJob(const RunRequest& request, const std::string& folder, const OpenOptions& options);
// Runs the command once for some steps without recording it.
Result<ProfiledJob> SampleJob(const RunRequest& request, const std::string& folder);

// Reads the bottlenecks of a report that `gapless analyze --json` wrote.
Result<std::vector<Bottleneck>> ReadBottlenecks(const std::string& path);

// Returns the facts of program and machine that decide which fixes apply, and with which values.
FixContext ContextOf(const ProfiledJob& job, const RunRequest& request);
// "2 processors · torch 2.15.0", for the head of a report.
std::string AboutOf(const FixContext& context, const RunSample& sample);

}  // namespace gapless::internal
