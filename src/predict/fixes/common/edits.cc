// SPDX-License-Identifier: Apache-2.0
// Implements the shared edits of edge times, and the queries of step times, operations and timelines.
#include "predict/fixes/common/edits.h"

#include <algorithm>

#include "predict/step_time.h"

namespace gapless::internal {

int64_t OpNs(const EdgeTimes& times, uint32_t op) {
  const Graph& graph = times.graph();
  return graph.op_end[op] == kNoInstant ? kAbsent : times.before()[graph.OpEdge(op)];
}

void SetOps(EdgeTimes& times, std::span<const int64_t> ns) {
  times.ScaleOps([&](uint32_t op) {
    const int64_t before = OpNs(times, op);
    if (ns[op] == kAbsent || before <= 0) return 1.0;
    return static_cast<double>(std::max<int64_t>(0, ns[op])) / static_cast<double>(before);
  });
}

void MarkInside(const Trace& trace, std::vector<uint8_t>& marks) {
  for (size_t row = 0; row < marks.size(); ++row)  // parents come before their children
    if (const SliceId parent = trace.slices.parent[row]; parent.valid() && marks[parent.value] != 0) marks[row] = 1;
}

std::optional<int64_t> StepNs(const WhatIfInput& input, const EdgeTimes& times) {
  return StepSpan(input.trace(), times.graph()).StepNs(Replay(times.graph(), times.ns()));
}

const TraceTimeline* TimelineOf(const WhatIfInput& input) {
  for (const TraceTimeline& timeline : input.tables.Timelines())
    if (timeline.of->index == input.of.index) return &timeline;
  return nullptr;
}

bool HasOperators(const Trace& trace) {
  return std::any_of(trace.gpu_ops.op.begin(), trace.gpu_ops.op.end(), [](SliceId op) { return op.valid(); });
}

std::string_view WhyNoOperators(const Trace& trace) {
  return trace.gpu_ops.size() == 0 ? "no kernel was recorded: what this brings where the host computes is not modelled"
                                   : "operators were not recorded: what launched the kernels is not known";
}

}  // namespace gapless::internal
