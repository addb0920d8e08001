// SPDX-License-Identifier: Apache-2.0
// Assigns each edge to its parts, and replays the step for each part and cost.
#include "predict/sweep.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr uint32_t kNoPart = UINT32_MAX;

bool IsHostWork(EdgeKind kind) { return kind == EdgeKind::kHost || kind == EdgeKind::kCall; }

// Returns true if the edge is a share of what an operation takes, all of which another edge is.
bool IsShareOfOp(EdgeKind kind) { return IsDeviceTime(kind) && kind != EdgeKind::kGpu; }

// Returns the parts that an edge belongs to; empty if none of them is swept.
std::string_view PartOf(const Trace& trace, const Edge& edge, SweepBy by) {
  if (by == SweepBy::kKernel)
    return IsDeviceTime(edge.kind) ? trace.Text(trace.gpu_ops.name[edge.owner]) : std::string_view();
  if (!IsHostWork(edge.kind) || edge.owner == kNoRowValue) return {};
  const SliceTable& slices = trace.slices;
  if (by == SweepBy::kThread) return trace.Text(trace.threads.name[slices.thread[edge.owner].value]);
  for (uint32_t row = edge.owner; row != kNoRowValue; row = slices.parent[row].value)
    if (slices.category[row] == SliceCategory::kOperator) return trace.Text(slices.name[row]);
  return {};
}

class Sweeper {
 public:
  Sweeper(const Predictor& predictor, SweepBy by)
      : predictor_(predictor), job_(predictor.job()), check_(predictor.check()) {
    for (const RankGraph& rank : job_.ranks) part_of_edge_.push_back(Assign(rank, by));
    const auto steps = static_cast<int64_t>(job_.ranks.size() * job_.ranks[0].span.steps());
    for (SweptPart& part : parts_) part.time_ns = predictor.ScaledToMeanStep(part.time_ns / steps);
  }

  std::vector<SweptPart> Run(size_t most) {
    std::vector<uint32_t> order(parts_.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return parts_[a].time_ns > parts_[b].time_ns; });
    order.resize(std::min(most, order.size()));
    predictor_.pool().ParallelFor(order.size() * kSweepCosts.size(), [&](size_t i) {
      const uint32_t part = order[i / kSweepCosts.size()];
      const size_t cost = i % kSweepCosts.size();
      parts_[part].shares[cost] = ShareAt(part, kSweepCosts[cost]);
    });
    std::vector<SweptPart> swept;
    for (const uint32_t part : order) swept.push_back(parts_[part]);
    std::stable_sort(swept.begin(), swept.end(),
                     [](const SweptPart& a, const SweptPart& b) { return a.shares.back() < b.shares.back(); });
    return swept;
  }

 private:
  std::vector<uint32_t> Assign(const RankGraph& rank, SweepBy by) {
    const Trace& trace = *rank.of->trace;
    const Interval window = AnalysedWindow(trace).span;
    std::vector<uint32_t> parts(rank.graph.edges.size(), kNoPart);
    for (Instant to = 0; to < rank.graph.size(); ++to) {
      const bool counts = rank.graph.recorded_ns[to] > window.start && rank.graph.recorded_ns[to] <= window.end;
      for (uint32_t edge = rank.graph.first_edge[to]; edge < rank.graph.first_edge[to + 1]; ++edge) {
        const std::string_view name = PartOf(trace, rank.graph.edges[edge], by);
        if (name.empty()) continue;
        const auto [known, added] = numbers_.try_emplace(std::string(name), static_cast<uint32_t>(parts_.size()));
        if (added) parts_.push_back({.name = known->first});
        parts[edge] = known->second;
        if (counts && !IsShareOfOp(rank.graph.edges[edge].kind)) parts_[known->second].time_ns += rank.edge_ns[edge];
      }
    }
    return parts;
  }

  double ShareAt(uint32_t part, double cost) const {
    thread_local std::vector<std::vector<int64_t>> edge_ns;  // memory of the thread's last replay
    edge_ns.resize(job_.ranks.size());
    for (size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      edge_ns[rank] = job_.ranks[rank].edge_ns;
      for (size_t edge = 0; cost != 1 && edge < edge_ns[rank].size(); ++edge)
        if (part_of_edge_[rank][edge] == part)
          edge_ns[rank][edge] = std::llround(static_cast<double>(edge_ns[rank][edge]) * cost);
    }
    const std::vector<std::span<const int64_t>> spans(edge_ns.begin(), edge_ns.end());
    const auto step = ReplayedStepNs(job_, spans);
    return static_cast<double>(step.value_or(check_.replayed_step_ns)) / static_cast<double>(check_.replayed_step_ns);
  }

  const Predictor& predictor_;
  const Job& job_;
  const SelfCheck& check_;
  std::unordered_map<std::string, uint32_t> numbers_{};
  std::vector<SweptPart> parts_{};
  std::vector<std::vector<uint32_t>> part_of_edge_{};  // by rank
};

}  // namespace

std::vector<SweptPart> Sweep(const Predictor& predictor, SweepBy by, size_t most) {
  return Sweeper(predictor, by).Run(most);
}

}  // namespace gapless::internal
