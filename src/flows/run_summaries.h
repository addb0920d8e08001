// SPDX-License-Identifier: Apache-2.0
// Summaries of a run that has just been recorded, in its folder and on the machine that recorded it: what is carried to
// where the job is analysed is then some dozen kilobytes for each rank.
#pragma once

#include <atomic>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "collect/launch.h"

namespace gapless::internal {

// The recordings that a launcher summarises: those of its own processes; if no other launcher writes to the run, of all
// of its folders.
struct RecordedRun {
  std::string path;  // of the run folder, absolute
  struct Process {
    std::string folder;  // "main", "rank3"
    int64_t pid = 0;
    std::vector<std::string> recordings{};  // files that the profiler wrote there
  };
  std::vector<Process> processes{};
};
RecordedRun RecordedRunOf(const LaunchResult& run);

struct RunSummaries {
  std::vector<std::string> written{};  // "summaries/rank-00003.gapsum", below the run folder
  int64_t bytes = 0, recorded_bytes = 0, ns = 0;
  std::vector<Error> without{};     // recordings without a summary; they stay in any case
  std::set<std::string> removed{};  // recordings, below the run folder
};

struct SummaryWishes {
  bool only = false;  // remove recordings whose summary was read back whole
  const std::atomic<bool>* cancel = nullptr;
};

// Writes a summary of each recording into the folder `summaries` of the run, for its owner only. With `only` it removes
// what the profiler and the agent wrote, and of that only what a summary stands for; any other file stays. An error:
// the folder cannot be written to.
Result<RunSummaries> SummarizeRun(const RecordedRun& run, const SummaryWishes& wishes);

}  // namespace gapless::internal
