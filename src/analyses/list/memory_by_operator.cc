// SPDX-License-Identifier: Apache-2.0
// Memory allocated by operator. "Self" is what an operator asks for itself, the other columns add what operators it
// called ask for; one inside another of its name counts once. An increase is allocations less frees: what stays.
#include <algorithm>
#include <map>

#include "analyses/analysis.h"
#include "analyses/columns.h"

namespace gapless::internal::memory_by_operator_analysis {
namespace {

struct MemoryByOperatorRows : TypedRows<MemoryByOperatorRows> {
  static constexpr std::string_view kName = "memory_by_operator";
  static constexpr std::string_view kHelp = "Operators by the memory they allocate: how often, how much, what stays";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"device", kInt, "", "device number; NULL: host memory"},
      {"operator", kText, "", "operator; NULL: outside all operators"},
      {"calls", kInt, "", "calls in the analysed window; NULL: outside all operators"},
      {"allocations", kInt, "", "allocations in it and in what it called"},
      {"self_allocations", kInt, "", "its own"},
      {"allocated_bytes", kInt, "bytes", "sizes of allocations"},
      {"self_allocated_bytes", kInt, "bytes", "sizes of its own"},
      {"increase_bytes", kInt, "bytes", "allocated less freed"},
      {"self_increase_bytes", kInt, "bytes", "its own"},
      {"slice_id", kInt, "id:slice", "the call with its largest own allocation; NULL: none of its own"},
  };
};

struct Sums {
  int64_t allocations = 0, allocated = 0, increase = 0;
  void Add(int64_t bytes) {
    if (bytes > 0) ++allocations, allocated += bytes;
    increase += bytes;
  }
};
struct Group {
  Sums all, self;
  SliceId largest{};
  int64_t largest_bytes = 0;
};
using Groups = std::map<std::pair<int32_t, StringId>, Group>;

SliceId OperatorAround(const SliceTable& slices, SliceId at) {
  while (at.valid() && slices.category[at.value] != SliceCategory::kOperator) at = slices.parent[at.value];
  return at;
}

Groups Collect(const TraceTimeline& timeline) {
  const MemoryEventTable& events = timeline.trace().memory_events;
  const SliceTable& slices = timeline.trace().slices;
  Groups groups;
  std::vector<size_t> counted(timeline.trace().strings.size());  // by name: the event last added to it, from 1
  const RowRange rows = RowsWithin(events.ts_ns, timeline.window.host);
  for (size_t row = rows.first; row < rows.last; ++row) {
    if (events.action[row] != MemoryAction::kAlloc && events.action[row] != MemoryAction::kFree) continue;
    const int32_t device = events.device_type[row] == 0 ? kAbsent32 : events.device[row];
    const int64_t bytes = events.bytes[row];
    SliceId at = OperatorAround(slices, events.slice[row]);
    Group& own = groups[{device, at.valid() ? slices.name[at.value] : StringId::kNone}];
    own.self.Add(bytes);
    if (bytes > own.largest_bytes) own.largest = at, own.largest_bytes = bytes;
    if (!at.valid()) own.all.Add(bytes);
    for (; at.valid(); at = OperatorAround(slices, slices.parent[at.value])) {
      const StringId name = slices.name[at.value];
      if (counted[static_cast<uint32_t>(name)] == row + 1) continue;
      counted[static_cast<uint32_t>(name)] = row + 1;
      groups[{device, name}].all.Add(bytes);
    }
  }
  return groups;
}

std::vector<int64_t> CallsByName(const TraceTimeline& timeline) {
  const SliceTable& slices = timeline.trace().slices;
  std::vector<int64_t> calls(timeline.trace().strings.size());
  const RowRange rows = RowsWithin(slices.ts_ns, timeline.window.host);
  for (size_t row = rows.first; row < rows.last; ++row)
    if (slices.category[row] == SliceCategory::kOperator) ++calls[static_cast<uint32_t>(slices.name[row])];
  return calls;
}

void AddRows(const TraceTimeline& timeline, TableOf<MemoryByOperatorRows>& table) {
  if (timeline.trace().memory_events.size() == 0) return;
  const Groups groups = Collect(timeline);
  const std::vector<int64_t> calls = CallsByName(timeline);
  std::vector<std::pair<std::pair<int32_t, StringId>, Group>> ordered(groups.begin(), groups.end());
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.second.self.allocated > b.second.self.allocated; });
  for (const auto& [key, group] : ordered) {
    const auto& [device, name] = key;
    auto row = table.Row(*timeline.of);
    row.Set("device", device).Set("operator", timeline.trace().Text(name));
    row.Set("calls", name == StringId::kNone ? kAbsent : calls[static_cast<uint32_t>(name)]);
    row.Set("allocations", group.all.allocations).Set("self_allocations", group.self.allocations);
    row.Set("allocated_bytes", group.all.allocated).Set("self_allocated_bytes", group.self.allocated);
    row.Set("increase_bytes", group.all.increase).Set("self_increase_bytes", group.self.increase);
    row.Set("slice_id", timeline.of->Id(group.largest));
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<MemoryByOperatorRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) AddRows(timeline, table);
  return table;
}

}  // namespace

ANALYSIS(memory_by_operator) = AnalysisOf<MemoryByOperatorRows>({.run = Compute});

}  // namespace gapless::internal::memory_by_operator_analysis
