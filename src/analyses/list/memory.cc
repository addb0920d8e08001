// SPDX-License-Identifier: Apache-2.0
// Memory of each device as the framework's allocator recorded it. Peaks are over the whole recording, since memory that
// the warm-up took is taken all the same; allocations are counted in the complete steps. Old recordings
// have sizes but no totals: of them only the growth since the recording began is known.
#include "analyses/rows/memory.h"

#include <algorithm>
#include <map>

#include "analyses/analysis.h"
#include "analyses/columns.h"

namespace gapless::internal::memory_analysis {
namespace {

struct Memory {
  int64_t peak_allocated = kAbsent, peak_reserved = kAbsent, unused_at_peak = kAbsent;
  int64_t in_use = 0, growth = 0, allocations = 0, allocated = 0;
  uint32_t peak_row = 0;
};

void Add(const MemoryEventTable& events, uint32_t row, bool counted, Memory& memory) {
  const int64_t bytes = events.bytes[row], total = events.total_allocated[row], reserved = events.total_reserved[row];
  memory.in_use += bytes;
  const bool grew = memory.in_use > memory.growth;
  memory.growth = std::max(memory.growth, memory.in_use);
  if (total > memory.peak_allocated || (memory.peak_allocated == kAbsent && grew)) {
    memory.peak_row = row;
    memory.peak_allocated = total;
    memory.unused_at_peak = total != kAbsent && reserved != kAbsent ? reserved - total : kAbsent;
  }
  memory.peak_reserved = std::max(memory.peak_reserved, reserved);
  if (!counted || bytes <= 0) return;
  ++memory.allocations, memory.allocated += bytes;
}

int64_t DeviceBytes(const Trace& trace, int32_t device) {
  const size_t row = FindDevice(trace.devices, device);
  return row < trace.devices.size() ? trace.devices.memory_bytes[row] : kAbsent;
}

void AddRow(const TraceTimeline& timeline, int32_t device, const Memory& memory, TableOf<MemoryRows>& table) {
  const auto steps = static_cast<int64_t>(timeline.window.steps.size());
  auto row = table.Row(*timeline.of);
  row.Set("device", device);
  if (device != kAbsent32) {
    const int64_t of_device = DeviceBytes(timeline.trace(), device);
    row.Set("device_bytes", of_device).Set("peak_reserved_bytes", memory.peak_reserved);
    if (memory.peak_reserved != kAbsent) row.Set("peak_share", ShareOf(memory.peak_reserved, of_device));
    row.Set("unused_at_peak_bytes", memory.unused_at_peak);
  }
  row.Set("peak_allocated_bytes", memory.peak_allocated).Set("peak_growth_bytes", memory.growth);
  row.Set("allocations", memory.allocations).Set("allocations_per_step", ShareOf(memory.allocations, steps));
  row.Set("allocated_bytes", memory.allocated).Set("allocated_bytes_per_step", ShareOf(memory.allocated, steps));
  row.Set("memory_event_id", timeline.of->base.memory_event + memory.peak_row);
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<MemoryRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) {
    const MemoryEventTable& events = timeline.trace().memory_events;
    std::map<int32_t, Memory> devices;
    for (uint32_t row = 0; row < events.size(); ++row) {
      const bool counted =
          events.ts_ns[row] >= timeline.window.host.start && events.ts_ns[row] < timeline.window.host.end;
      const int32_t device = events.device_type[row] == 0 ? kAbsent32 : events.device[row];
      if (events.action[row] == MemoryAction::kAlloc || events.action[row] == MemoryAction::kFree)
        Add(events, row, counted, devices[device]);
    }
    std::vector<std::pair<int32_t, Memory>> ordered(devices.begin(), devices.end());
    std::stable_sort(ordered.begin(), ordered.end(),
                     [](const auto& a, const auto& b) { return (a.first == kAbsent32) < (b.first == kAbsent32); });
    for (const auto& [device, memory] : ordered) AddRow(timeline, device, memory, table);
  }
  return table;
}

}  // namespace

ANALYSIS(memory) = AnalysisOf<MemoryRows>({.run = Compute});

}  // namespace gapless::internal::memory_analysis
