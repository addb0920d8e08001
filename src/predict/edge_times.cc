// SPDX-License-Identifier: Apache-2.0
// Implements changes to the times of edges.
#include "predict/edge_times.h"

#include <algorithm>

namespace gapless::internal {

void EdgeTimes::StartFrom(const EdgeTimes& other) {
  graph_ = other.graph_, before_ = other.before_, shared_ = other.shared_;
  is_changed_ = other.is_changed_;
  if (is_changed_) changed_ = other.changed_;
}

void EdgeTimes::Share() {
  if (is_changed_) shared_ = std::make_shared<const std::vector<int64_t>>(std::move(changed_));
  changed_.clear();
  is_changed_ = false;
}

void EdgeTimes::Change() {
  changed_ = *shared_;
  is_changed_ = true;
}

void EdgeTimes::LimitGaps(int64_t most_ns) {
  for (size_t i = 0; i < graph_->edges.size(); ++i)
    if (graph_->edges[i].kind == EdgeKind::kStream && ns()[i] > most_ns) Set(i, most_ns);
}

void EdgeTimes::DropWaits(EdgeKind kind, const std::function<bool(uint32_t owner)>& chosen) {
  DropWaits(kind, chosen, [](uint32_t) { return int64_t{0}; });
}

void EdgeTimes::DropWaits(EdgeKind kind, const std::function<bool(uint32_t owner)>& chosen,
                          const std::function<int64_t(uint32_t owner)>& call_ns) {
  for (size_t i = 0; i < graph_->edges.size(); ++i) {
    const Edge& edge = graph_->edges[i];
    if (edge.kind != kind || !chosen(edge.owner)) continue;
    Set(i, kNever);
    // The call's own work is the edge before, into the same instant.
    if (i > 0 && graph_->edges[i - 1].kind == EdgeKind::kCall && graph_->edges[i - 1].owner == edge.owner)
      Set(i - 1, std::max(ns()[i - 1], call_ns(edge.owner)));
  }
}

void EdgeTimes::RemoveWhatShrank(const EdgeTimes& before) {
  for (size_t i = 0; i < graph_->edges.size(); ++i)
    if (const int64_t now_ns = ns()[i]; now_ns != kNever && now_ns > 0 && now_ns < before.ns()[i]) Set(i, 0);
}

}  // namespace gapless::internal
