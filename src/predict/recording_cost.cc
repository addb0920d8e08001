// SPDX-License-Identifier: Apache-2.0
#include "predict/recording_cost.h"

#include <algorithm>
#include <cmath>

#include "analyses/recording_overhead.h"

namespace gapless::internal {
namespace {

constexpr double kMaxShare = 0.8;          // of an edge
constexpr double kMaxCarriedNs = 100'000;  // what edges before could not give

// The instants of a host thread in the order of time.
using ThreadInstants = std::vector<Instant>;

std::vector<ThreadInstants> InstantsOfThreads(const Trace& trace, const Graph& graph) {
  std::vector<ThreadInstants> threads(trace.threads.size());
  for (uint32_t row = 0; row < graph.slice_begin.size(); ++row) {
    if (graph.slice_begin[row] == kNoInstant || graph.slice_end[row] == kNoInstant) continue;
    ThreadInstants& thread = threads[trace.slices.thread[row].value];
    thread.push_back(graph.slice_begin[row]), thread.push_back(graph.slice_end[row]);
  }
  for (ThreadInstants& thread : threads) std::sort(thread.begin(), thread.end());
  return threads;
}

// Host work that leads to an instant; kNoRowValue: none does.
uint32_t HostEdge(const Graph& graph, Instant to) {
  for (uint32_t edge = graph.first_edge[to]; edge < graph.first_edge[to + 1]; ++edge)
    if (graph.edges[edge].kind == EdgeKind::kHost || graph.edges[edge].kind == EdgeKind::kCall) return edge;
  return kNoRowValue;
}

}  // namespace

std::vector<RecordedEdge> RecordingCost(const Trace& trace, const Graph& graph) {
  const std::vector<int64_t> overhead = RecordingOverheadNs(trace);
  if (std::all_of(overhead.begin(), overhead.end(), [](int64_t ns) { return ns == 0; })) return {};
  const std::vector<ThreadInstants> threads = InstantsOfThreads(trace, graph);
  std::vector<int64_t> cost(graph.edges.size());
  const auto add = [&](const ThreadInstants& thread, int64_t at_ns, int64_t ns) {
    const auto next = std::lower_bound(thread.begin(), thread.end(), at_ns,
                                       [&](Instant one, int64_t time) { return graph.recorded_ns[one] < time; });
    const uint32_t edge = next == thread.end() ? kNoRowValue : HostEdge(graph, *next);
    if (edge != kNoRowValue) cost[edge] += ns;
  };
  for (size_t row = 0; row < overhead.size(); ++row) {
    if (overhead[row] == 0) continue;
    const ThreadInstants& thread = threads[trace.slices.thread[row].value];
    const int64_t start = trace.slices.ts_ns[row];
    add(thread, start, overhead[row] / 2), add(thread, start + trace.slices.dur_ns[row], overhead[row] / 2);
  }
  std::vector<RecordedEdge> recorded;
  for (uint32_t thread = 0; thread < threads.size(); ++thread)
    for (const Instant instant : threads[thread])
      if (const uint32_t edge = HostEdge(graph, instant); edge != kNoRowValue)
        recorded.push_back({.edge = edge, .thread = thread, .cost_ns = cost[edge]});
  return recorded;
}

std::vector<int64_t> WithoutRecording(const std::vector<int64_t>& edge_ns, std::span<const RecordedEdge> recorded,
                                      double times) {
  std::vector<int64_t> bare = edge_ns;
  double owed = 0;
  uint32_t thread = kNoRowValue;
  for (const RecordedEdge& one : recorded) {
    owed = (one.thread == thread ? std::min(owed, kMaxCarriedNs) : 0) + times * static_cast<double>(one.cost_ns);
    thread = one.thread;
    const double taken = std::min(owed, kMaxShare * static_cast<double>(std::max<int64_t>(0, bare[one.edge])));
    bare[one.edge] -= std::llround(taken);
    owed -= taken;
  }
  return bare;
}

}  // namespace gapless::internal
