// SPDX-License-Identifier: Apache-2.0
// What several what-ifs do to the times of a graph, and ask of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyses/timeline.h"
#include "predict/what_if.h"

namespace gapless::internal {

// What an operation took on the device before any what-if; kAbsent: it is not in the graph.
int64_t OpNs(const EdgeTimes& times, uint32_t op);
// By operation: what it would take instead of OpNs; kAbsent: it stays. What others have made of it is scaled alike.
// None gets below 0; an operation of 0 stays so.
void SetOps(EdgeTimes& times, std::span<const int64_t> ns);

// Marks the slices inside marked ones, too. By row of the slice table.
void MarkInside(const Trace& trace, std::vector<uint8_t>& marks);

// How long a step takes with these times; absent: there is none.
std::optional<int64_t> StepNs(const WhatIfInput& input, const EdgeTimes& times);

// The device time of the recording; nullptr: it has none.
const TraceTimeline* TimelineOf(const WhatIfInput& input);

// Is the operator known that launched some of the recording's kernels?
bool HasOperators(const Trace& trace);
inline constexpr std::string_view kNoOperators = "operators were not recorded: what launched the kernels is not known";

}  // namespace gapless::internal
