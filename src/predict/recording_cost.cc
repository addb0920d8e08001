// SPDX-License-Identifier: Apache-2.0
// Assigns the recorder's cost of each slice to the host edges in its span, at most a fixed share of each edge.
#include "predict/recording_cost.h"

#include <algorithm>
#include <cmath>

#include "analyses/recording_overhead.h"

namespace gapless::internal {
namespace {

constexpr double kMaxShare = 0.8;          // largest share of an edge that counts as the recording's cost
constexpr double kMaxCarriedNs = 100'000;  // what edges before could not give

// The instants of a host thread in the order of time.
using ThreadInstants = std::vector<Instant>;

// Finds instants of a thread for rows in the order of their starts.
class ThreadCursor {
 public:
  ThreadCursor(const Graph& graph, const ThreadInstants& instants) : graph_(&graph), instants_(&instants) {}
  // Returns the first instant from `at_ns` on, kNoInstant without such an instant. Later calls ask for the same `at_ns`
  // or more.
  Instant Advance(int64_t at_ns) {
    at_ = Find(at_ns);
    return At(at_);
  }
  // The same, and stays.
  Instant Ahead(int64_t at_ns) const { return At(Find(at_ns)); }

 private:
  // Most lie close ahead: the steps double until the instant is passed.
  size_t Find(int64_t at_ns) const {
    size_t low = at_, step = 1;
    while (low + step < instants_->size() && NsOf(low + step - 1) < at_ns) low += step, step *= 2;
    const auto first = instants_->begin() + static_cast<std::ptrdiff_t>(low);
    const auto last = instants_->begin() + static_cast<std::ptrdiff_t>(std::min(low + step, instants_->size()));
    return static_cast<size_t>(
        std::partition_point(first, last, [&](Instant instant) { return graph_->recorded_ns[instant] < at_ns; }) -
        instants_->begin());
  }
  int64_t NsOf(size_t at) const { return graph_->recorded_ns[(*instants_)[at]]; }
  Instant At(size_t at) const { return at < instants_->size() ? (*instants_)[at] : kNoInstant; }

  const Graph* graph_;
  const ThreadInstants* instants_;
  size_t at_ = 0;
};

std::vector<ThreadInstants> InstantsOfThreads(const Trace& trace, const Graph& graph) {
  std::vector<uint32_t> thread_of(graph.size(), kNoRowValue);
  std::vector<size_t> counts(trace.threads.size());
  for (uint32_t row = 0; row < graph.slice_begin.size(); ++row) {
    if (graph.slice_begin[row] == kNoInstant || graph.slice_end[row] == kNoInstant) continue;
    const uint32_t thread = trace.slices.thread[row].value;
    thread_of[graph.slice_begin[row]] = thread_of[graph.slice_end[row]] = thread;
    counts[thread] += 2;
  }
  std::vector<ThreadInstants> threads(trace.threads.size());
  for (size_t thread = 0; thread < threads.size(); ++thread) threads[thread].reserve(counts[thread]);
  for (Instant instant = 0; instant < graph.size(); ++instant)  // instants stand in the order of time
    if (thread_of[instant] != kNoRowValue) threads[thread_of[instant]].push_back(instant);
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
  const RecordingOverhead overhead(trace);
  if (!overhead.IsKnown()) return {};
  const std::vector<ThreadInstants> threads = InstantsOfThreads(trace, graph);
  std::vector<int64_t> cost(graph.edges.size());
  std::vector<ThreadCursor> cursors;
  for (const ThreadInstants& thread : threads) cursors.emplace_back(graph, thread);
  const auto add = [&](Instant instant, int64_t ns) {
    const uint32_t edge = instant == kNoInstant ? kNoRowValue : HostEdge(graph, instant);
    if (edge != kNoRowValue) cost[edge] += ns;
  };
  for (size_t row = 0; row < trace.slices.size(); ++row) {
    const int64_t overhead_ns = overhead.OfNs(trace.slices.category[row]);
    if (overhead_ns == 0) continue;
    ThreadCursor& thread = cursors[trace.slices.thread[row].value];
    const int64_t start = trace.slices.ts_ns[row];
    add(thread.Advance(start), overhead_ns / 2);
    add(thread.Ahead(start + trace.slices.dur_ns[row]), overhead_ns / 2);
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
  for (const RecordedEdge& recorded_edge : recorded) {
    owed = (recorded_edge.thread == thread ? std::min(owed, kMaxCarriedNs) : 0) +
           times * static_cast<double>(recorded_edge.cost_ns);
    thread = recorded_edge.thread;
    const double taken =
        std::min(owed, kMaxShare * static_cast<double>(std::max<int64_t>(0, bare[recorded_edge.edge])));
    bare[recorded_edge.edge] -= std::llround(taken);
    owed -= taken;
  }
  return bare;
}

}  // namespace gapless::internal
