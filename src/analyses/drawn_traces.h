// SPDX-License-Identifier: Apache-2.0
// The recordings that a picture of a run shows when it cannot show all: the one with the slowest step, then those that
// differ most.
#pragma once

#include <vector>

#include "analyses/analysis.h"
#include "analyses/timeline.h"

namespace gapless::internal {

inline constexpr size_t kMaxDrawnTraces = 16;

// Returns the slowest complete step of all traces, and in `owner` whose it is; null if no step is complete.
const StepWindow* SlowestStepOf(const std::vector<TraceTimeline>& timelines, const TraceTimeline*& owner);

// All recordings, those whose own work is furthest from the median's first where there are more than kMaxDrawnTraces.
std::vector<const TraceTimeline*> FurthestFirst(Tables& tables);

// kMaxDrawnTraces of them at most, in the order of the run, the one with the slowest step among them.
std::vector<const TraceTimeline*> DrawnTraces(Tables& tables);

}  // namespace gapless::internal
