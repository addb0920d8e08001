// SPDX-License-Identifier: Apache-2.0
#include "analyses/drawn_traces.h"

#include <algorithm>

#include "analyses/rank_summary.h"

namespace gapless::internal {

const StepWindow* SlowestStepOf(const std::vector<TraceTimeline>& timelines, const TraceTimeline*& owner) {
  const StepWindow* slowest = nullptr;
  for (const TraceTimeline& timeline : timelines)
    for (const StepWindow& step : timeline.window.steps)
      if (!slowest || step.span.length() > slowest->span.length()) slowest = &step, owner = &timeline;
  return slowest;
}

std::vector<const TraceTimeline*> FurthestFirst(Tables& tables) {
  std::vector<const TraceTimeline*> order;
  for (const TraceTimeline& timeline : tables.Timelines()) order.push_back(&timeline);
  if (order.size() <= kMaxDrawnTraces) return order;
  const std::map<int64_t, double> distances = DistancesFromMedian(tables.Get<RanksRows>());
  const auto distance_of = [&](const TraceTimeline* timeline) {
    const auto distance = distances.find(timeline->of->index);
    return distance == distances.end() ? 0 : -distance->second;
  };
  std::ranges::stable_sort(order, {}, distance_of);
  return order;
}

std::vector<const TraceTimeline*> DrawnTraces(Tables& tables) {
  std::vector<const TraceTimeline*> drawn;
  const TraceTimeline* owner = nullptr;
  if (SlowestStepOf(tables.Timelines(), owner) != nullptr) drawn.push_back(owner);
  for (const TraceTimeline* timeline : FurthestFirst(tables))
    if (timeline != owner && drawn.size() < kMaxDrawnTraces) drawn.push_back(timeline);
  std::ranges::sort(drawn, {}, [](const TraceTimeline* timeline) { return timeline->of->index; });
  return drawn;
}

}  // namespace gapless::internal
