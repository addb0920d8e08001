// SPDX-License-Identifier: Apache-2.0
// Memory that recorded steps allocate and do not give back, by the line and the operator that allocate it.
//
// Memory counts that is in use at the end and was allocated in one of the recorded steps but the last two: what a step
// needs itself is free by then. A place counts when most of these steps keep something of it: what is made once (a
// cache, the state of an optimiser) does not grow.
#include "analyses/rows/kept_memory.h"

#include <algorithm>
#include <map>
#include <set>

#include "analyses/analysis.h"
#include "analyses/columns.h"

namespace gapless::internal::kept_memory_analysis {
namespace {

constexpr size_t kNewestSteps = 2;  // those of which something may still be needed
constexpr size_t kMinSteps = 2;     // before these
constexpr size_t kMaxRows = 50;     // rows per trace

struct Place {
  int32_t device = kAbsent32;
  StringId line = StringId::kNone, op = StringId::kNone;
  auto operator<=>(const Place&) const = default;
};
struct Kept {
  int64_t allocations = 0, bytes = 0;
  std::set<size_t> steps;
};

Place PlaceOf(const Trace& trace, size_t event) {
  const SliceTable& slices = trace.slices;
  const MemoryEventTable& events = trace.memory_events;
  Place place{.device = events.device_type[event] == 0 ? kAbsent32 : events.device[event]};
  for (SliceId at = events.slice[event]; at.valid(); at = slices.parent[at.value]) {
    const bool is_operator = slices.category[at.value] == SliceCategory::kOperator;
    if (is_operator && place.op == StringId::kNone) place.op = slices.name[at.value];
    if (place.line == StringId::kNone) place.line = slices.source_line[at.value];
  }
  return place;
}

// Returns the rows of the allocations that are in use at the end of the recording.
std::vector<uint32_t> InUse(const MemoryEventTable& events) {
  std::map<std::pair<int32_t, int64_t>, uint32_t> in_use;  // by device and address
  for (uint32_t row = 0; row < events.size(); ++row) {
    const int32_t device = events.device_type[row] == 0 ? kAbsent32 : events.device[row];
    if (events.action[row] == MemoryAction::kAlloc) in_use[{device, events.address[row]}] = row;
    if (events.action[row] == MemoryAction::kFree) in_use.erase({device, events.address[row]});
  }
  std::vector<uint32_t> rows;
  for (const auto& [key, row] : in_use) rows.push_back(row);
  std::ranges::sort(rows);
  return rows;
}

void AddRows(const TraceTimeline& timeline, TableOf<KeptMemoryRows>& table) {
  const Trace& trace = timeline.trace();
  const MemoryEventTable& events = trace.memory_events;
  if (events.size() == 0 || timeline.window.steps.size() < kNewestSteps + kMinSteps) return;
  const size_t count = timeline.window.steps.size() - kNewestSteps;
  std::vector<int64_t> starts;
  for (const StepWindow& step : timeline.window.steps) starts.push_back(trace.steps.ts_ns[step.step.value]);
  std::map<Place, Kept> places;
  for (const uint32_t row : InUse(events)) {
    const auto next = std::ranges::upper_bound(starts, events.ts_ns[row]);
    const auto step = static_cast<size_t>(next - starts.begin());  // from 1
    if (step == 0 || step > count) continue;
    Kept& kept = places[PlaceOf(trace, row)];
    ++kept.allocations, kept.bytes += events.bytes[row], kept.steps.insert(step);
  }
  std::vector<std::pair<Place, Kept>> ordered(places.begin(), places.end());
  std::erase_if(ordered, [&](const auto& entry) { return 2 * entry.second.steps.size() <= count; });
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  for (size_t i = 0; i < std::min(ordered.size(), kMaxRows); ++i) {
    const auto& [place, kept] = ordered[i];
    const auto steps = static_cast<int64_t>(kept.steps.size());
    auto row = table.Row(*timeline.of);
    row.Set("device", place.device).Set("source_line", trace.Text(place.line)).Set("operator", trace.Text(place.op));
    row.Set("steps", steps).Set("allocations", kept.allocations).Set("bytes", kept.bytes);
    row.Set("bytes_per_step", static_cast<double>(kept.bytes) / static_cast<double>(steps));
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<KeptMemoryRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) AddRows(timeline, table);
  return table;
}

}  // namespace

ANALYSIS(kept_memory) = AnalysisOf<KeptMemoryRows>({.run = Compute});

}  // namespace gapless::internal::kept_memory_analysis
