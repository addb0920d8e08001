// SPDX-License-Identifier: Apache-2.0
// The allocator's segments at the moment of a snapshot. Fragmentation is the share of the reserved memory that is
// unused and lies in a segment with something alive: it can neither be given back nor hold a tensor that is larger than
// its hole.
#include "analyses/rows/memory_segments.h"

#include <algorithm>
#include <map>

#include "analyses/analysis.h"
#include "analyses/columns.h"

namespace gapless::internal::memory_segments_analysis {
namespace {

struct Segment {
  int64_t active = 0, unused = 0;
};
struct Device {
  std::map<int64_t, Segment> segments;
  int64_t largest_free = 0, oom_events = 0, oom_bytes = kAbsent;
};

std::map<int32_t, Device> DevicesOf(const Trace& trace) {
  std::map<int32_t, Device> devices;
  const MemoryBlockTable& blocks = trace.memory_blocks;
  for (size_t row = 0; row < blocks.size(); ++row) {
    if (blocks.segment[row] == kAbsent) continue;
    Device& device = devices[blocks.device[row]];
    Segment& segment = device.segments[blocks.segment[row]];
    const bool active = trace.Text(blocks.state[row]).starts_with("active");
    (active ? segment.active : segment.unused) += blocks.bytes[row];
    if (!active) device.largest_free = std::max(device.largest_free, blocks.bytes[row]);
  }
  const MemoryEventTable& events = trace.memory_events;
  for (size_t row = 0; row < events.size(); ++row)
    if (events.action[row] == MemoryAction::kOom)
      ++devices[events.device[row]].oom_events, devices[events.device[row]].oom_bytes = events.bytes[row];
  return devices;
}

void AddRow(const RunTrace& of, int32_t number, const Device& device, TableOf<MemorySegmentsRows>& table) {
  int64_t active = 0, returnable = 0, stuck = 0;
  for (const auto& [start, segment] : device.segments) {
    active += segment.active;
    (segment.active == 0 ? returnable : stuck) += segment.unused;
  }
  const int64_t reserved = active + returnable + stuck;
  auto row = table.Row(of);
  row.Set("device", number).Set("segments", static_cast<int64_t>(device.segments.size()));
  row.Set("reserved_bytes", reserved).Set("active_bytes", active);
  row.Set("returnable_bytes", returnable).Set("stuck_bytes", stuck).Set("largest_free_bytes", device.largest_free);
  row.Set("stuck_share", ShareOf(stuck, reserved));
  row.Set("oom_events", device.oom_events).Set("oom_bytes", device.oom_bytes);
}

Result<Table> Compute(const Run& run, Tables&) {
  TableOf<MemorySegmentsRows> table;
  for (const RunTrace* of : run.primary())
    for (const auto& [number, device] : DevicesOf(*of->trace)) AddRow(*of, number, device, table);
  return table;
}

}  // namespace

ANALYSIS(memory_segments) = AnalysisOf<MemorySegmentsRows>({.run = Compute});

}  // namespace gapless::internal::memory_segments_analysis
