// SPDX-License-Identifier: Apache-2.0
// Copies and fills by kind.
#include "analyses/rows/copies.h"

#include <array>
#include <optional>

#include "analyses/analysis.h"
#include "analyses/bandwidth.h"
#include "analyses/columns.h"
#include "analyses/copy_kinds.h"

namespace gapless::internal::copies_analysis {
namespace {

constexpr size_t kMemset = kCopyKindNames.size();  // one more kind than copies have

struct Group {
  int64_t calls = 0, bytes = kAbsent, timed_ns = 0, total_ns = 0;
  uint32_t longest = 0;
  Intervals spans;
};

std::array<Group, kMemset + 1> Collect(const GpuOpTable& ops, const DeviceTimeline& device) {
  std::array<Group, kMemset + 1> groups;
  for (const uint32_t row : device.RowsInWindow()) {
    if (ops.kind[row] == GpuOpKind::kKernel) continue;
    const CopyKind copy = ops.copy_kind[row] == CopyKind::kNone ? CopyKind::kOther : ops.copy_kind[row];
    Group& group = groups[ops.kind[row] == GpuOpKind::kMemset ? kMemset : static_cast<size_t>(copy)];
    const int64_t dur = ops.dur_ns[row];
    if (group.calls++ == 0 || dur > ops.dur_ns[group.longest]) group.longest = row;
    group.total_ns += dur;
    AppendMerged(group.spans, {ops.ts_ns[row], ops.ts_ns[row] + dur});
    if (ops.bytes[row] == kAbsent) continue;
    group.bytes = (group.bytes == kAbsent ? 0 : group.bytes) + ops.bytes[row];
    group.timed_ns += dur;
  }
  return groups;
}

void AddRows(const TraceTimeline& timeline, const DeviceTimeline& device, TableOf<CopiesRows>& table) {
  const Trace& trace = timeline.trace();
  const auto groups = Collect(trace.gpu_ops, device);
  for (size_t kind = 0; kind < groups.size(); ++kind) {
    const Group& group = groups[kind];
    if (group.calls == 0) continue;
    const std::optional<bool> pageable = kind == kMemset ? std::nullopt : IsPageable(static_cast<CopyKind>(kind));
    auto row = table.Row(*timeline.of);
    row.Set("device", device.device).Set("kind", kind == kMemset ? "memset" : kCopyKindNames[kind]);
    row.Set("pageable", pageable).Set("calls", group.calls);
    row.Set("calls_per_step", ShareOf(group.calls, static_cast<int64_t>(timeline.window.steps.size())));
    const int64_t exposed = TotalIn(Intersect(group.spans, device.exposed_copies), timeline.window.span);
    const int64_t running = TotalIn(group.spans, timeline.window.span);
    row.Set("bytes", group.bytes).Set("total_ns", group.total_ns).Set("exposed_ns", exposed);
    row.Set("overlap_share", ShareOf(running - exposed, running));
    row.Set("mean_gbps", AlgorithmBandwidthGbps(group.bytes, group.timed_ns));
    row.Set("gpu_op_id", timeline.of->Id(GpuOpId(group.longest)));
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<CopiesRows> table;
  for (const TraceTimeline& timeline : tables.Timelines())
    for (const DeviceTimeline& device : timeline.devices) AddRows(timeline, device, table);
  return table;
}

}  // namespace

ANALYSIS(copies) = AnalysisOf<CopiesRows>({.run = Compute});

}  // namespace gapless::internal::copies_analysis
