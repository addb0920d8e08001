// SPDX-License-Identifier: Apache-2.0
#include "predict/graph.h"

namespace gapless::internal {

std::vector<int64_t> Replay(const Graph& graph, std::span<const int64_t> edge_ns) {
  std::vector<int64_t> times(graph.size());
  for (Instant instant = 0; instant < graph.size(); ++instant) times[instant] = TimeOf(graph, instant, times, edge_ns);
  return times;
}

std::vector<int64_t> RecordedEdges(const Graph& graph) {
  std::vector<int64_t> edge_ns;
  edge_ns.reserve(graph.edges.size());
  for (const Edge& edge : graph.edges) edge_ns.push_back(edge.ns);
  return edge_ns;
}

std::vector<int64_t> Replay(const Graph& graph) { return Replay(graph, RecordedEdges(graph)); }

}  // namespace gapless::internal
