// SPDX-License-Identifier: Apache-2.0
// Operators by name, with host and device time, of their own and with their children. An operator that runs inside
// another of the same name counts once in the totals. Children come after their parents in the table of slices, so one
// pass backwards carries device time up the stack.
#include "analyses/rows/operators.h"

#include <array>

#include "analyses/analysis.h"
#include "analyses/columns.h"

namespace gapless::internal::operators_analysis {
namespace {

constexpr size_t kClasses = kGpuOpClassNames.size();
constexpr uint32_t kNoCall = kNoRowValue;

struct Group {
  StringId name = StringId::kNone;
  uint32_t longest = kNoCall;
  int64_t calls = 0, host_self_ns = 0, host_total_ns = 0, device_self_ns = 0, device_total_ns = 0, gpu_ops = 0;
  std::array<int64_t, kClasses> class_ns{};
};

class ByName {
 public:
  ByName(const TraceTimeline& timeline)  // NOLINT(*-explicit-*)
      : trace_(timeline.trace()), group_of_(trace_.strings.size(), -1), device_total_(trace_.slices.size()) {
    AddDeviceSelf(RowsWithin(trace_.gpu_ops.ts_ns, timeline.window.span));
    for (size_t row = device_total_.size(); row-- > 0;)
      if (const SliceId parent = trace_.slices.parent[row]; device_total_[row] != 0 && parent.valid())
        device_total_[parent.value] += device_total_[row];
    AddCalls(RowsWithin(trace_.slices.ts_ns, timeline.window.host));
  }

  std::vector<Group> groups;
  int64_t device_ns = 0;

 private:
  Group& GroupOf(StringId name) {
    int32_t& at = group_of_[static_cast<uint32_t>(name)];
    if (at < 0) at = static_cast<int32_t>(groups.size()), groups.push_back({.name = name});
    return groups[static_cast<size_t>(at)];
  }

  void AddDeviceSelf(RowRange rows) {
    const GpuOpTable& ops = trace_.gpu_ops;
    for (size_t row = rows.first; row < rows.last; ++row) {
      device_ns += ops.dur_ns[row];
      const SliceId op = ops.op[row];
      if (!op.valid()) continue;
      Group& group = GroupOf(trace_.slices.name[op.value]);
      group.device_self_ns += ops.dur_ns[row];
      group.class_ns[static_cast<size_t>(ops.op_class[row])] += ops.dur_ns[row];
      ++group.gpu_ops;
      device_total_[op.value] += ops.dur_ns[row];
    }
  }

  // Operators of the analysed steps; device work of theirs may run later, and some that is analysed was launched
  // earlier.
  void AddCalls(RowRange rows) {
    const SliceTable& slices = trace_.slices;
    std::vector<SliceId> operator_above(slices.size());
    for (uint32_t row = 0; row < slices.size(); ++row) {
      const SliceId parent = slices.parent[row];
      if (parent.valid())
        operator_above[row] =
            slices.category[parent.value] == SliceCategory::kOperator ? parent : operator_above[parent.value];
      if (slices.category[row] != SliceCategory::kOperator) continue;
      const bool in_window = row >= rows.first && row < rows.last;
      if (!in_window && device_total_[row] == 0) continue;
      Group& group = GroupOf(slices.name[row]);
      const bool outermost = !InsideItself(operator_above, row);
      if (outermost) group.device_total_ns += device_total_[row];
      if (!in_window) continue;
      ++group.calls;
      group.host_self_ns += slices.self_ns[row];
      if (outermost) group.host_total_ns += slices.dur_ns[row];
      if (group.longest == kNoCall || slices.dur_ns[row] > slices.dur_ns[group.longest]) group.longest = row;
    }
  }

  bool InsideItself(const std::vector<SliceId>& operator_above, uint32_t row) const {
    for (SliceId at = operator_above[row]; at.valid(); at = operator_above[at.value])
      if (trace_.slices.name[at.value] == trace_.slices.name[row]) return true;
    return false;
  }

  const Trace& trace_;
  std::vector<int32_t> group_of_;
  std::vector<int64_t> device_total_;
};

std::string_view ClassOf(const Group& group) {
  const auto most = std::max_element(group.class_ns.begin(), group.class_ns.end()) - group.class_ns.begin();
  return group.gpu_ops > 0 ? kGpuOpClassNames[static_cast<size_t>(most)] : std::string_view();
}

void AddRows(const TraceTimeline& timeline, TableOf<OperatorsRows>& table) {
  const Trace& trace = timeline.trace();
  ByName by_name(timeline);
  std::vector<Group>& groups = by_name.groups;
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
    return a.device_self_ns != b.device_self_ns ? a.device_self_ns > b.device_self_ns : a.host_self_ns > b.host_self_ns;
  });
  for (const Group& group : groups) {
    auto row = table.Row(*timeline.of);
    row.Set("name", trace.Text(group.name)).Set("class", ClassOf(group)).Set("calls", group.calls);
    row.Set("host_self_ns", group.host_self_ns).Set("host_total_ns", group.host_total_ns);
    row.Set("device_self_ns", group.device_self_ns).Set("device_total_ns", group.device_total_ns);
    row.Set("gpu_ops", group.gpu_ops).Set("share", ShareOf(group.device_self_ns, by_name.device_ns));
    if (group.longest == kNoCall) continue;
    row.Set("slice_id", timeline.of->Id(SliceId(group.longest)));
    row.Set("source_line", trace.Text(trace.slices.source_line[group.longest]));
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<OperatorsRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) AddRows(timeline, table);
  return table;
}

}  // namespace

ANALYSIS(operators) = AnalysisOf<OperatorsRows>({.run = Compute, .cost = 3});

}  // namespace gapless::internal::operators_analysis
