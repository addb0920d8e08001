// SPDX-License-Identifier: Apache-2.0
// Communication of each device: how much there is, how much of it no computation hides, and the same collectives by
// kind.
#include "analyses/rows/communication.h"

#include <algorithm>
#include <map>

#include "analyses/analysis.h"
#include "analyses/bandwidth.h"
#include "analyses/columns.h"

namespace gapless::internal::communication_analysis {
namespace {

struct Group {
  int64_t calls = 0, bytes = kAbsent, timed_ns = 0;
  double bus_bytes = 0;
  Intervals spans;
  GpuOpId longest;
  int64_t longest_ns = -1;
};

// Device (the host first) and kind → group.
using Groups = std::map<std::pair<int32_t, std::string_view>, Group>;

Groups ByKind(const TraceTimeline& timeline) {
  const Trace& trace = timeline.trace();
  const CollectiveTable& all = trace.collectives;
  Groups groups;
  const RowRange rows = RowsWithin(all.ts_ns, timeline.window.span);
  for (size_t row = rows.first; row < rows.last; ++row) {
    const std::string_view kind = trace.Text(all.kind[row]);
    Group& group = groups[{all.device[row], kind}];
    ++group.calls;
    if (all.dur_ns[row] == kAbsent) continue;
    AppendMerged(group.spans, {all.ts_ns[row], all.ts_ns[row] + all.dur_ns[row]});
    if (all.dur_ns[row] > group.longest_ns) group.longest = all.gpu_op[row], group.longest_ns = all.dur_ns[row];
    if (all.bytes[row] == kAbsent) continue;
    group.bytes = (group.bytes == kAbsent ? 0 : group.bytes) + all.bytes[row];
    group.bus_bytes += static_cast<double>(all.bytes[row]) * BusFactor(kind, all.group_size[row]);
    group.timed_ns += all.dur_ns[row];
  }
  return groups;
}

const DeviceTimeline* Find(const TraceTimeline& timeline, int32_t device) {
  const auto found = std::ranges::lower_bound(timeline.devices, device, {}, &DeviceTimeline::device);
  return found != timeline.devices.end() && found->device == device ? &*found : nullptr;
}

// Adds all communication kernels of a device, also those whose collective is not recorded.
Group AllOf(const TraceTimeline& timeline, const DeviceTimeline& device) {
  Group all;
  all.spans = device.communication;
  const GpuOpTable& ops = timeline.trace().gpu_ops;
  for (const uint32_t row : device.RowsInWindow()) {
    if (ops.kind[row] != GpuOpKind::kKernel || ops.op_class[row] != GpuOpClass::kCommunication) continue;
    ++all.calls;
    if (ops.dur_ns[row] > all.longest_ns) all.longest = GpuOpId(row), all.longest_ns = ops.dur_ns[row];
  }
  return all;
}

void AddRow(const TraceTimeline& timeline, int32_t device, std::string_view kind, const Group& group,
            TableOf<CommunicationRows>& table) {
  const DeviceTimeline* on = Find(timeline, device);
  const Intervals spans = Clip(group.spans, timeline.window.span);
  const int64_t total = Total(spans);
  auto row = table.Row(*timeline.of);
  row.Set("device", device).Set("kind", kind).Set("calls", group.calls).Set("bytes", group.bytes);
  row.Set("total_ns", total).Set("wall_share", ShareOf(total, timeline.window.span.length()));
  if (on != nullptr) {
    const int64_t exposed = Total(Subtract(spans, on->compute));
    row.Set("exposed_ns", exposed).Set("overlap_share", ShareOf(total - exposed, total));
  }
  if (group.timed_ns > 0) row.Set("bus_gbps", group.bus_bytes / static_cast<double>(group.timed_ns));
  row.Set("gpu_op_id", timeline.of->Id(group.longest));
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<CommunicationRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) {
    Groups groups = ByKind(timeline);
    for (const DeviceTimeline& device : timeline.devices) {
      Group all = AllOf(timeline, device);
      for (auto at = groups.lower_bound({device.device, {}}); at != groups.end() && at->first.first == device.device;
           ++at)
        if (at->second.bytes != kAbsent) all.bytes = std::max<int64_t>(all.bytes, 0) + at->second.bytes;
      all.bus_bytes = std::numeric_limits<double>::quiet_NaN();  // kinds have different formulas
      if (all.calls > 0) AddRow(timeline, device.device, {}, all, table);
    }
    for (const auto& [key, group] : groups)
      AddRow(timeline, key.first, key.second.empty() ? "other" : key.second, group, table);
  }
  return table;
}

}  // namespace

ANALYSIS(communication) = AnalysisOf<CommunicationRows>({.run = Compute});

}  // namespace gapless::internal::communication_analysis
