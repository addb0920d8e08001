// SPDX-License-Identifier: Apache-2.0
// Kernels by name. Groups are found through one array over the trace's texts, durations laid out group by group so that
// the median needs no map and no vector per name.
#include "analyses/rows/kernels.h"

#include <span>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/kernel_names.h"
#include "analyses/work_type.h"

namespace gapless::internal::kernels_analysis {
namespace {

constexpr int64_t kLongNs = 10'000;  // shorter ones are matters of launching

struct Group {
  uint32_t longest = 0;  // row
  int64_t calls = 0, total_ns = 0, min_ns = std::numeric_limits<int64_t>::max();
  int64_t long_ns = 0, long_optimizer_ns = 0;
  double occupancy_time = 0, occupancy_ns = 0;
  double sm_time = 0, sm_ns = 0;
  size_t first = 0;  // into the durations
};

// Threads of a block; kAbsent: not recorded.
int64_t BlockThreads(const GpuOpTable& ops, uint32_t row) {
  if (ops.block_x[row] <= 0) return kAbsent;
  return int64_t{ops.block_x[row]} * std::max(1, ops.block_y[row]) * std::max(1, ops.block_z[row]);
}

class ByName {
 public:
  // `in_optimizer`: by slice. `group_of`, by text: -1 before and after, so that one serves all devices.
  ByName(const Trace& trace, const DeviceTimeline& device, const std::vector<uint8_t>& in_optimizer,
         std::vector<int32_t>& group_of)
      : trace_(trace), in_optimizer_(in_optimizer), group_of_(group_of) {
    const std::span<const uint32_t> rows = device.RowsInWindow();
    for (const uint32_t row : rows)
      if (IsKernel(row)) Add(row);
    size_t first = 0;
    for (Group& group : groups) group.first = first, first += static_cast<size_t>(group.calls);
    durations_.resize(first);
    std::vector<size_t> next;
    for (const Group& group : groups) next.push_back(group.first);
    for (const uint32_t row : rows)
      if (IsKernel(row)) durations_[next[static_cast<size_t>(GroupOf(row))]++] = trace_.gpu_ops.dur_ns[row];
    for (const Group& group : groups) GroupOf(group.longest) = -1;
  }

  int64_t Median(const Group& group) {
    return Percentile(std::span(durations_).subspan(group.first, static_cast<size_t>(group.calls)), 0.5);
  }

  std::vector<Group> groups;
  int64_t total_ns = 0;

 private:
  bool IsKernel(size_t row) const { return trace_.gpu_ops.kind[row] == GpuOpKind::kKernel; }
  int32_t& GroupOf(size_t row) { return group_of_[static_cast<uint32_t>(trace_.gpu_ops.name[row])]; }

  void Add(uint32_t row) {
    const GpuOpTable& ops = trace_.gpu_ops;
    int32_t& at = GroupOf(row);
    if (at < 0) at = static_cast<int32_t>(groups.size()), groups.push_back({.longest = row});
    Group& group = groups[static_cast<size_t>(at)];
    const int64_t dur = ops.dur_ns[row];
    ++group.calls;
    group.total_ns += dur, total_ns += dur;
    group.min_ns = std::min(group.min_ns, dur);
    if (dur > ops.dur_ns[group.longest]) group.longest = row;
    if (dur >= kLongNs) {
      const SliceId at = LaunchedBy(ops, row);
      group.long_ns += dur;
      if (at.valid() && in_optimizer_[at.value] != 0) group.long_optimizer_ns += dur;
    }
    if (const auto blocks = static_cast<double>(ops.blocks_per_sm[row]); blocks > 0) {
      group.sm_time += std::min(1.0, blocks) * static_cast<double>(dur);
      group.sm_ns += static_cast<double>(dur);
    }
    const auto occupancy = static_cast<double>(ops.occupancy_pct[row]);
    if (!(occupancy >= 0)) return;
    group.occupancy_time += occupancy * static_cast<double>(dur);
    group.occupancy_ns += static_cast<double>(dur);
  }

  const Trace& trace_;
  const std::vector<uint8_t>& in_optimizer_;
  std::vector<int32_t>& group_of_;
  std::vector<int64_t> durations_;
};

void AddRows(const TraceTimeline& timeline, const DeviceTimeline& device, ByName& by_name,
             TableOf<KernelsRows>& table) {
  const GpuOpTable& ops = timeline.trace().gpu_ops;
  std::vector<Group>& groups = by_name.groups;
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.total_ns > b.total_ns; });
  for (const Group& group : groups) {
    const uint32_t row_of = group.longest;
    auto row = table.Row(*timeline.of);
    row.Set("device", device.device).Set("name", timeline.trace().Text(ops.name[row_of]));
    row.Set("class", ToString(ops.op_class[row_of])).Set("matrix_unit", ToString(ops.matrix_unit[row_of]));
    row.Set("calls", group.calls).Set("total_ns", group.total_ns).Set("mean_ns", group.total_ns / group.calls);
    row.Set("min_ns", group.min_ns).Set("p50_ns", by_name.Median(group)).Set("max_ns", ops.dur_ns[row_of]);
    row.Set("share", ShareOf(group.total_ns, by_name.total_ns));
    row.Set("occupancy_pct", group.occupancy_time / group.occupancy_ns);
    row.Set("gpu_op_id", timeline.of->Id(GpuOpId(row_of)));
    row.Set("library", KernelLibrary(timeline.trace().Text(ops.name[row_of])));
    row.Set("sm_share", group.sm_time / group.sm_ns).Set("long_ns", group.long_ns);
    row.Set("long_optimizer_ns", group.long_optimizer_ns).Set("precision", ToString(ops.precision[row_of]));
    row.Set("block_threads", BlockThreads(ops, row_of));
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<KernelsRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) {
    const std::vector<uint8_t>& in_optimizer = tables.Once(timeline.trace(), InsideOptimizers);
    std::vector<int32_t> group_of(timeline.trace().strings.size(), -1);
    for (const DeviceTimeline& device : timeline.devices) {
      ByName by_name(timeline.trace(), device, in_optimizer, group_of);
      AddRows(timeline, device, by_name, table);
    }
  }
  return table;
}

}  // namespace

ANALYSIS(kernels) = AnalysisOf<KernelsRows>({.run = Compute, .cost = 2});

}  // namespace gapless::internal::kernels_analysis
