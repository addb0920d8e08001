// SPDX-License-Identifier: Apache-2.0
// Changes to the times of a graph, and queries of a graph, that several what-ifs share.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyses/timeline.h"
#include "predict/fix.h"

namespace gapless::internal {

// Returns an operation's recorded time on the device; kAbsent if the graph does not have it.
int64_t OpNs(const EdgeTimes& times, uint32_t op);
// Sets, for each operation, the time that it would take instead of OpNs; kAbsent: it stays. What others have made of it
// is scaled alike. None gets below 0; an operation of 0 stays so.
void SetOps(EdgeTimes& times, std::span<const int64_t> ns);

// Marks the slices inside marked ones, too. By row of the slice table.
void MarkInside(const Trace& trace, std::vector<uint8_t>& marks);

// Returns the step time with these times; absent without a complete step.
std::optional<int64_t> StepNs(const WhatIfInput& input, const EdgeTimes& times);

// The device time of the recording; nullptr: it has none.
const TraceTimeline* TimelineOf(const WhatIfInput& input);

// Is the operator known that launched some of the recording's kernels?
bool HasOperators(const Trace& trace);
// Returns the reason why a fix of kernels by their operators refuses a recording in which no such operator is known.
std::string_view WhyNoOperators(const Trace& trace);
inline constexpr std::string_view kNoHost = "the host was not recorded: what it does, and waits for, is not known";

}  // namespace gapless::internal
