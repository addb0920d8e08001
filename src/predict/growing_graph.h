// SPDX-License-Identifier: Apache-2.0
// A graph while it is built: instants are appended in order, and edges lead into the last one. NewestOfTwo finds the
// instant of another thread or stream to lead an edge from.
#pragma once

#include "predict/graph.h"

namespace gapless::internal {

class GrowingGraph {
 public:
  explicit GrowingGraph(const Trace& trace);
  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }
  Graph::Facts& facts() { return graph_.facts; }

  void Reserve(size_t instants);
  void AddInstant(int64_t recorded_ns);
  Instant now() const { return now_; }
  int64_t now_ns() const { return graph_.recorded_ns[now_]; }
  int64_t NsOf(Instant instant) const { return graph_.recorded_ns[instant]; }
  int64_t Since(Instant from) const { return now_ns() - NsOf(from); }

  // Into the last instant.
  void Link(EdgeKind kind, Instant from, int64_t ns, uint32_t owner) {
    graph_.edges.push_back({.ns = ns, .owner = owner, .kind = kind});
    graph_.from.push_back(from);
  }
  void LinkRoot() { Link(EdgeKind::kRoot, kNoInstant, now_ns(), kNoRowValue); }
  Graph Finish();

 private:
  Graph graph_{};
  Instant now_ = 0;
};

// Finds the last event of all lanes (threads or streams) but one in constant time. Events arrive in time order, so it
// is enough to keep the newest event and the newest event of any other lane.
template <class Lane>
class NewestOfTwo {
 public:
  void Take(Lane lane, Instant instant) {
    if (newest_ != kNoInstant && lane != lane_) elsewhere_ = newest_;
    lane_ = lane;
    newest_ = instant;
  }
  // Returns the newest event of any lane; kNoInstant without events.
  Instant Any() const { return newest_; }
  // Returns the newest event of the other lanes; kNoInstant if they have no event.
  Instant Elsewhere(Lane lane) const { return newest_ != kNoInstant && lane != lane_ ? newest_ : elsewhere_; }

 private:
  Lane lane_{};
  Instant newest_ = kNoInstant;
  Instant elsewhere_ = kNoInstant;  // newest event of the other lanes
};

}  // namespace gapless::internal
