// SPDX-License-Identifier: Apache-2.0
// Memory over the time of the recording, as few points as a picture needs: of each of kBuckets equal stretches the
// least and the most that was in use, in the order in which they came. The peak is among them.
#include <algorithm>
#include <map>

#include "analyses/analysis.h"
#include "analyses/columns.h"

namespace gapless::internal::memory_curve_analysis {
namespace {

constexpr int64_t kBuckets = 400;  // per device: at most twice as many rows

struct MemoryCurveRows : TypedRows<MemoryCurveRows> {
  static constexpr std::string_view kName = "memory_curve";
  static constexpr std::string_view kHelp =
      "Memory over time per device, as many points as a picture needs, the peak among them";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"device", kInt, "", "device number; NULL: host memory"},
      {"ts_ns", kInt, "ns", "when"},
      {"growth_bytes", kInt, "bytes", "in use beyond what was in use when the recording began"},
      {"allocated_bytes", kInt, "bytes", "in use by tensors; NULL: not recorded"},
      {"reserved_bytes", kInt, "bytes", "held by the allocator; NULL: not recorded, or host memory"},
      {"memory_event_id", kInt, "id:memory_event", "the event after which it was so"},
  };
};

struct Point {
  uint32_t row = 0;
  int64_t growth = 0;
};

struct Curve {
  int64_t growth = 0;   // up to now
  int64_t bucket = -1;  // the open one, with its extremes
  Point least, most;
  std::vector<Point> points;

  void Close() {
    if (bucket < 0) return;
    const auto [first, last] = std::minmax(least, most, [](const Point& a, const Point& b) { return a.row < b.row; });
    points.push_back(first);
    if (last.row != first.row) points.push_back(last);
  }
  void Add(uint32_t row, int64_t bytes, int64_t at) {
    growth += bytes;
    const Point point{row, growth};
    if (at != bucket) {
      Close();
      bucket = at, least = most = point;
    }
    if (growth < least.growth) least = point;
    if (growth > most.growth) most = point;
  }
};

void AddRows(const RunTrace& of, TableOf<MemoryCurveRows>& table) {
  const MemoryEventTable& events = of.trace->memory_events;
  if (events.size() == 0) return;
  const int64_t start = events.ts_ns[0], width = (events.ts_ns[events.size() - 1] - start) / kBuckets + 1;
  std::map<int32_t, Curve> curves;
  for (uint32_t row = 0; row < events.size(); ++row) {
    if (events.action[row] != MemoryAction::kAlloc && events.action[row] != MemoryAction::kFree) continue;
    const int32_t device = events.device_type[row] == 0 ? kAbsent32 : events.device[row];
    curves[device].Add(row, events.bytes[row], (events.ts_ns[row] - start) / width);
  }
  for (auto& [device, curve] : curves) {
    const bool host = device == kAbsent32;
    curve.Close();
    for (const Point& point : curve.points) {
      auto row = table.Row(of);
      row.Set("device", host ? kAbsent : device).Set("ts_ns", events.ts_ns[point.row] + of.ts_shift_ns);
      row.Set("growth_bytes", point.growth).Set("allocated_bytes", events.total_allocated[point.row]);
      row.Set("reserved_bytes", host ? kAbsent : events.total_reserved[point.row]);
      row.Set("memory_event_id", of.base.memory_event + point.row);
    }
  }
}

Result<Table> Compute(const Run& run, Tables&) {
  TableOf<MemoryCurveRows> table;
  for (const RunTrace* of : run.primary()) AddRows(*of, table);
  return table;
}

}  // namespace

ANALYSIS(memory_curve) = AnalysisOf<MemoryCurveRows>({.run = Compute});

}  // namespace gapless::internal::memory_curve_analysis
