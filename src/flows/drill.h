// SPDX-License-Identifier: Apache-2.0
// A job of summaries whose few telling recordings are opened for what only events tell: the picture of the slowest
// step, every idle interval, replays where the summary had no room for events.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "flows/analysis.h"

namespace gapless::internal {

struct DrillWishes {
  std::vector<int64_t> ranks{};  // empty: those of table exemplars
  OpenOptions open{};            // of the recordings
};

// Returns the run with the recordings in place of their summaries. They are looked for where they were recorded, then
// beside the summary and in the folder above it, and must be what was summarised. Those that are not there stay
// summaries and are among the failures.
Result<LoadedRun> Drill(const RunAnalysis& analysis, const DrillWishes& wishes);

}  // namespace gapless::internal
