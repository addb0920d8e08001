// SPDX-License-Identifier: Apache-2.0
// A recording as a graph of instants: the beginning and end of every host slice that counts and of every GPU operation.
// An edge says that an instant cannot come before another one plus a time. Replaying finds the earliest time of every
// instant; with other times on the edges that is a prediction.
//
// Instants stand in an order in which every edge leads from an earlier to a later one. Memory grows with the number of
// events: an instant is 12 bytes, an edge 20.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/trace.h"

namespace gapless::internal {

using Instant = uint32_t;
inline constexpr Instant kNoInstant = UINT32_MAX;

enum class EdgeKind : uint8_t {
  kRoot,    // nothing is known to come before: its recorded time; nobody owns it
  kHost,    // host work between two instants of a thread; owner: the innermost slice open meanwhile
  kCall,    // a runtime or driver call at work, without what it waits for; owner: the call
  kThread,  // a thread went on when another one had come so far; owner: the slice that went on
  kSync,    // a blocking call returns when the device has come so far; owner: the call
  kFeed,    // a call that feeds a copy piece by piece returns with the last piece; owner: the copy
  kQueue,   // a launch returns when the device's queue has room; owner: the call
  kLaunch,  // from the launching call to the start on the device; owner: the operation
  kStream,  // after the operation before it on the stream; owner: the operation
  kWait,    // after an operation of another stream that its stream waits for; owner: the operation
  kGpu,     // from start to end of an operation; owner: the operation
  kOverlap  // an operation starts when the one before it on its stream, which still runs, has come so far; owner: that
            // one
};

// Returns true if the edge takes time that the device works, so that it gets shorter when the operation does.
inline bool IsDeviceTime(EdgeKind kind) {
  return kind == EdgeKind::kGpu || kind == EdgeKind::kFeed || kind == EdgeKind::kOverlap;
}

// An edge that holds nobody up.
inline constexpr int64_t kNever = INT64_MIN / 4;

struct Edge {
  int64_t ns = 0;
  uint32_t owner = kNoRowValue;  // row of the slice table for host kinds, of the gpu_op table for the others
  EdgeKind kind = EdgeKind::kRoot;
};

struct Graph {
  std::vector<int64_t> recorded_ns{};  // recorded time of each instant
  std::vector<uint32_t> first_edge{};  // index into `edges` of each instant's first edge, and one past the last
  std::vector<Edge> edges{};           // into an instant
  std::vector<Instant> from{};  // source of each edge; kNoInstant: a root. A column of its own, because replays read it
  std::vector<Instant> slice_begin{}, slice_end{}, op_begin{}, op_end{};  // by row; kNoInstant: not in the graph

  // Facts about the making of the graph that a reader should know before trusting it.
  struct Facts {
    int64_t waits_recorded = 0, waits_inferred = 0, waits_unexplained = 0, unexplained_ns = 0;  // between streams
    int64_t blocking_calls = 0, full_queues = 0, thread_waits = 0;
    int64_t ops = 0, ops_without_launch = 0;
    int64_t launch_ns = 0, stream_ns = 0;  // shortest launch, usual gap of operations back to back
  } facts{};

  size_t size() const { return recorded_ns.size(); }
  // The edge from the start of an operation to its end.
  uint32_t OpEdge(uint32_t op) const { return first_edge[op_end[op]]; }
  std::span<const Edge> Into(Instant instant) const {
    return std::span(edges).subspan(first_edge[instant], first_edge[instant + 1] - first_edge[instant]);
  }
};

// The rules of build.cc that can be left out, to show that the self-check notices.
struct GraphRules {
  bool blocking_calls = true, full_queues = true, thread_waits = true, drop_pollers = true, order_ties = true;
};

Graph BuildGraph(const Trace& trace, const GraphRules& rules = {});

// Returns the recorded duration of every edge.
std::vector<int64_t> RecordedEdges(const Graph& graph);

// The time of an instant when those before it have theirs, and edges take `edge_ns`; never before 0.
inline int64_t TimeOf(const Graph& graph, Instant instant, std::span<const int64_t> times,
                      std::span<const int64_t> edge_ns) {
  int64_t time = 0;
  for (uint32_t edge = graph.first_edge[instant]; edge < graph.first_edge[instant + 1]; ++edge) {
    const Instant from = graph.from[edge];
    time = std::max(time, edge_ns[edge] + (from == kNoInstant ? 0 : times[from]));
  }
  return time;
}

// The time of every instant when edges take what they take in `edge_ns`, one for each edge.
std::vector<int64_t> Replay(const Graph& graph, std::span<const int64_t> edge_ns);
std::vector<int64_t> Replay(const Graph& graph);  // as recorded

}  // namespace gapless::internal
