// SPDX-License-Identifier: Apache-2.0
#include "predict/growing_graph.h"

#include <utility>

namespace gapless::internal {

GrowingGraph::GrowingGraph(const Trace& trace) {
  graph_.slice_begin.assign(trace.slices.size(), kNoInstant);
  graph_.slice_end.assign(trace.slices.size(), kNoInstant);
  graph_.op_begin.assign(trace.gpu_ops.size(), kNoInstant);
  graph_.op_end.assign(trace.gpu_ops.size(), kNoInstant);
}

void GrowingGraph::Reserve(size_t instants) {
  graph_.recorded_ns.reserve(instants);
  graph_.first_edge.reserve(instants + 1);
  graph_.edges.reserve(instants * 3 / 2);
  graph_.from.reserve(instants * 3 / 2);
}

void GrowingGraph::AddInstant(int64_t recorded_ns) {
  now_ = static_cast<Instant>(graph_.size());
  graph_.recorded_ns.push_back(recorded_ns);
  graph_.first_edge.push_back(static_cast<uint32_t>(graph_.edges.size()));
}

Graph GrowingGraph::Finish() {
  graph_.first_edge.push_back(static_cast<uint32_t>(graph_.edges.size()));
  return std::move(graph_);
}

}  // namespace gapless::internal
