// SPDX-License-Identifier: Apache-2.0
// Takes the recorder's own time out of the work of the host (analyses/recording_overhead.h says how much it is), so
// that a prediction is of the program as it runs when nobody records it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "predict/graph.h"

namespace gapless::internal {

// An edge of host work, and what the events recorded in it cost.
struct RecordedEdge {
  uint32_t edge = 0, thread = 0;
  int64_t cost_ns = 0;
};

// Returns the edges of host work, thread by thread in the order of time; empty: recording costs nothing. Half of what
// an event costs lies before its beginning and half before its end, in the host work that leads there.
std::vector<RecordedEdge> RecordingCost(const Trace& trace, const Graph& graph);

// Returns what edges take when nobody records; `times`: that many times the expected cost, from 0 on. An edge gives up
// to four fifths of its time; what it cannot give, the next ones of its thread do, for the cost of an event is a mean.
std::vector<int64_t> WithoutRecording(const std::vector<int64_t>& edge_ns, std::span<const RecordedEdge> recorded,
                                      double times);

}  // namespace gapless::internal
