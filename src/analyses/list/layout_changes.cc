// SPDX-License-Identifier: Apache-2.0
// Kernels that libraries run to change the memory layout of a tensor before or after the operation they were asked for:
// cuDNN's between NCHW and NHWC, MIOpen's batched transposes, cuBLAS' transposes. With the layout the library wants
// (channels_last) they are not needed. By the operator that launches them.
#include "analyses/rows/layout_changes.h"

#include <map>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/kernel_names.h"

namespace gapless::internal::layout_changes_analysis {
namespace {

struct Group {
  StringId name = StringId::kNone;
  int64_t calls = 0, device_ns = 0, operator_ns = 0;
  std::map<StringId, int64_t> kernels;
  uint32_t longest = 0;
};

class Changes {
 public:
  explicit Changes(const TraceTimeline& timeline)
      : trace_(timeline.trace()), is_change_(trace_.strings.size(), kUnseen), group_of_(trace_.strings.size(), -1) {
    const GpuOpTable& ops = trace_.gpu_ops;
    const RowRange rows = RowsWithin(ops.ts_ns, timeline.window.span);
    for (auto row = static_cast<uint32_t>(rows.first); row < rows.last; ++row) {
      device_ns += ops.dur_ns[row];
      if (ops.kind[row] != GpuOpKind::kKernel) continue;
      Group& group = GroupOf(ops.op[row]);
      group.operator_ns += ops.dur_ns[row];
      if (!IsChange(ops.name[row])) continue;
      if (group.calls++ == 0 || ops.dur_ns[row] > ops.dur_ns[group.longest]) group.longest = row;
      group.device_ns += ops.dur_ns[row];
      group.kernels[ops.name[row]] += ops.dur_ns[row];
    }
  }

  std::vector<Group> groups;  // one group per operator and layout
  int64_t device_ns = 0;

 private:
  static constexpr uint8_t kUnseen = 2;

  bool IsChange(StringId kernel) {
    uint8_t& is = is_change_[static_cast<uint32_t>(kernel)];
    if (is == kUnseen) is = ChangesLayout(trace_.Text(kernel)) ? 1 : 0;
    return is != 0;
  }
  Group& GroupOf(SliceId op) {
    const StringId name = op.valid() ? trace_.slices.name[op.value] : StringId::kNone;
    int32_t& at = group_of_[static_cast<uint32_t>(name)];
    if (at < 0) {
      at = static_cast<int32_t>(groups.size());
      groups.emplace_back();
      groups.back().name = name;
    }
    return groups[static_cast<size_t>(at)];
  }

  const Trace& trace_;
  std::vector<uint8_t> is_change_;
  std::vector<int32_t> group_of_;
};

void AddRows(const TraceTimeline& timeline, TableOf<LayoutChangesRows>& table) {
  const Trace& trace = timeline.trace();
  Changes changes(timeline);
  std::stable_sort(changes.groups.begin(), changes.groups.end(),
                   [](const Group& a, const Group& b) { return a.device_ns > b.device_ns; });
  for (const Group& group : changes.groups) {
    if (group.calls == 0) break;
    const auto most = std::max_element(group.kernels.begin(), group.kernels.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    const SliceId op = trace.gpu_ops.op[group.longest];
    auto row = table.Row(*timeline.of);
    row.Set("operator", trace.Text(group.name)).Set("kernel", trace.Text(most->first)).Set("calls", group.calls);
    row.Set("calls_per_step", ShareOf(group.calls, static_cast<int64_t>(timeline.window.steps.size())));
    row.Set("device_ns", group.device_ns).Set("operator_ns", group.operator_ns);
    row.Set("share", ShareOf(group.device_ns, changes.device_ns));
    row.Set("gpu_op_id", timeline.of->Id(GpuOpId(group.longest)));
    if (!op.valid()) continue;
    row.Set("slice_id", timeline.of->Id(op)).Set("types", trace.Text(trace.slices.input_types[op.value]));
    row.Set("source_line", trace.Text(trace.slices.source_line[op.value]));
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<LayoutChangesRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) AddRows(timeline, table);
  return table;
}

}  // namespace

ANALYSIS(layout_changes) = AnalysisOf<LayoutChangesRows>({.run = Compute});

}  // namespace gapless::internal::layout_changes_analysis
