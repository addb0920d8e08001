// SPDX-License-Identifier: Apache-2.0
// The steps that stand for a whole run, of those that the agent reported.
//
// A step counts when it is complete and the profiler neither ran in it nor stopped just before it: starting and
// stopping take time of their own. The first step of a process does not count: it warms up.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyses/intervals.h"
#include "trace/run.h"

namespace gapless::internal {

// Returns the rows of the steps of an agent's trace that count, in order.
std::vector<uint32_t> StepsThatCount(const Trace& trace);

// Returns the time from the first to the last step that agents saw, over all processes of execution 0, in run time.
// Absent: no agent saw a step.
std::optional<Interval> TimeOfSteps(const Run& run);

inline Interval SpanOfStep(const Trace& trace, size_t row) {
  return {trace.steps.ts_ns[row], trace.steps.ts_ns[row] + trace.steps.dur_ns[row]};
}

}  // namespace gapless::internal
