// SPDX-License-Identifier: Apache-2.0
// Kernels so short that starting them costs as much as running them, by the operator that launches them. To their time
// belong the gaps between two of them that are as short: the device starting the next one.
#include "analyses/rows/tiny_kernels.h"

#include "analyses/analysis.h"
#include "analyses/columns.h"

namespace gapless::internal::tiny_kernels_analysis {
namespace {

// TraceLens "short_kernels", and analysis launches: launching one costs the host about as much.
constexpr int64_t kShortNs = 10'000;

struct Group {
  StringId name = StringId::kNone;
  int64_t kernels = 0, short_kernels = 0, short_ns = 0, gap_ns = 0, longest_ns = -1;
  SliceId op{};
};

class ByOperator {
 public:
  // `group_of`, by text: -1 before and after, so that one serves all devices.
  ByOperator(const Trace& trace, const DeviceTimeline& device, std::vector<int32_t>& group_of)
      : trace_(trace), device_(device), group_of_(group_of) {
    AddKernels();
    AddGaps();
    for (const Group& group : groups) group_of_[static_cast<uint32_t>(group.name)] = -1;
  }

  std::vector<Group> groups;

 private:
  bool IsShort(GpuOpId row) const { return row.valid() && IsKernel(row.value) && IsShort(row.value); }
  bool IsShort(size_t row) const { return trace_.gpu_ops.dur_ns[row] < kShortNs; }
  bool IsKernel(size_t row) const {
    return trace_.gpu_ops.kind[row] == GpuOpKind::kKernel && trace_.gpu_ops.op_class[row] != GpuOpClass::kCommunication;
  }

  Group& GroupOf(SliceId op) {
    const StringId name = op.valid() ? trace_.slices.name[op.value] : StringId::kNone;
    int32_t& at = group_of_[static_cast<uint32_t>(name)];
    if (at < 0) at = static_cast<int32_t>(groups.size()), groups.push_back({.name = name});
    return groups[static_cast<size_t>(at)];
  }

  void AddKernels() {
    const GpuOpTable& ops = trace_.gpu_ops;
    for (const uint32_t row : device_.RowsInWindow()) {
      if (!IsKernel(row)) continue;
      Group& group = GroupOf(ops.op[row]);
      ++group.kernels;
      if (!IsShort(row)) continue;
      ++group.short_kernels, group.short_ns += ops.dur_ns[row];
      if (ops.dur_ns[row] > group.longest_ns) group.longest_ns = ops.dur_ns[row], group.op = ops.op[row];
    }
  }

  void AddGaps() {
    for (const IdleGap& gap : device_.gaps)
      if (gap.span.length() < kShortNs && IsShort(gap.previous) && IsShort(gap.next))
        GroupOf(trace_.gpu_ops.op[gap.previous.value]).gap_ns += gap.span.length();
  }

  const Trace& trace_;
  const DeviceTimeline& device_;
  std::vector<int32_t>& group_of_;
};

void AddRows(const TraceTimeline& timeline, const DeviceTimeline& device, std::vector<int32_t>& group_of,
             TableOf<TinyKernelsRows>& table) {
  const Trace& trace = timeline.trace();
  ByOperator by_operator(trace, device, group_of);
  std::vector<Group>& groups = by_operator.groups;
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.short_ns + a.gap_ns > b.short_ns + b.gap_ns; });
  const auto steps = static_cast<int64_t>(timeline.window.steps.size());
  for (const Group& group : groups) {
    auto row = table.Row(*timeline.of);
    row.Set("device", device.device).Set("operator", trace.Text(group.name)).Set("kernels", group.kernels);
    row.Set("short_kernels", group.short_kernels).Set("short_per_step", ShareOf(group.short_kernels, steps));
    row.Set("short_ns", group.short_ns).Set("gap_ns", group.gap_ns);
    row.Set("mean_ns", MeanOf(group.short_ns, group.short_kernels));
    if (group.op.valid()) row.Set("source_line", trace.Text(trace.slices.source_line[group.op.value]));
    row.Set("slice_id", timeline.of->Id(group.op));
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<TinyKernelsRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) {
    std::vector<int32_t> group_of(timeline.trace().strings.size(), -1);
    for (const DeviceTimeline& device : timeline.devices) AddRows(timeline, device, group_of, table);
  }
  return table;
}

}  // namespace

ANALYSIS(tiny_kernels) = AnalysisOf<TinyKernelsRows>({.run = Compute});

}  // namespace gapless::internal::tiny_kernels_analysis
