// SPDX-License-Identifier: Apache-2.0
// Divides the device time by type of work. Every operation counts once, under one type, so the rows of a device add up
// to its device time exactly. What decides, in this order: a communication kernel is communication; work launched
// inside an optimizer's step is the optimizer's; then the name of the operator that launched it; then the kernel's
// class. So a layout change inside a convolution is convolution: the user did not ask for it.
#include <array>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/work_type.h"

namespace gapless::internal::operator_types_analysis {
namespace {

struct OperatorTypesRows : TypedRows<OperatorTypesRows> {
  static constexpr std::string_view kName = "operator_types";
  static constexpr std::string_view kHelp =
      "Device time by type of work: conv, matmul, attention, norm, optimizer, copy, …";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      kDeviceColumn,
      {"type", kText, "",
       "conv, matmul, attention, norm, activation, pointwise, reduction, pooling, optimizer, copy, …"},
      {"gpu_ops", kInt, "", "kernels, copies and fills"},
      {"device_ns", kInt, "ns", "sum of their durations"},
      {"share", kReal, "share", "of all device work of the device"},
      {"window_share", kReal, "share", "of the analysed time; types that run at once both count"},
      {"matrix_unit_share", kReal, "share",
       "share on tensor cores, of the time of kernels whose names show it; NULL: no name shows it"},
      {"calls", kInt, "", "operators of this type called in the analysed steps; of the whole process"},
      {"host_self_ns", kInt, "ns", "their host time without what they call"},
      {"gpu_op_id", kInt, "id:gpu_op", "the longest"},
  };
};

struct Sums {
  int64_t gpu_ops = 0, device_ns = 0, unit_ns[3] = {};
  GpuOpId longest{};
};
using ByType = std::array<Sums, kWorkTypes>;

class Types {
 public:
  Types(const TraceTimeline& timeline, const std::vector<uint8_t>& in_optimizer)
      : timeline_(timeline), trace_(timeline.trace()), type_of_(trace_.strings.size()), in_optimizer_(in_optimizer) {
    for (size_t id = 0; id < type_of_.size(); ++id)
      type_of_[id] = WorkTypeOfOperator(trace_.strings[static_cast<StringId>(id)]);
    AddHost();
  }

  ByType OfDevice(const DeviceTimeline& device) const {
    ByType sums{};
    const GpuOpTable& ops = trace_.gpu_ops;
    for (const uint32_t row : device.RowsInWindow()) {
      Sums& of = sums[static_cast<size_t>(TypeOf(row))];
      ++of.gpu_ops;
      of.device_ns += ops.dur_ns[row];
      if (ops.kind[row] == GpuOpKind::kKernel) of.unit_ns[static_cast<size_t>(ops.matrix_unit[row])] += ops.dur_ns[row];
      if (!of.longest.valid() || ops.dur_ns[row] > ops.dur_ns[of.longest.value]) of.longest = GpuOpId(row);
    }
    return sums;
  }

  std::array<int64_t, kWorkTypes> calls{}, host_self_ns{};

 private:
  WorkType TypeOf(size_t row) const {
    const GpuOpTable& ops = trace_.gpu_ops;
    if (ops.op_class[row] == GpuOpClass::kCommunication) return WorkType::kCommunication;
    const SliceId at = LaunchedBy(ops, row);
    if (at.valid() && in_optimizer_[at.value] != 0) return WorkType::kOptimizer;
    if (ops.op[row].valid()) {
      const WorkType type = type_of_[static_cast<uint32_t>(trace_.slices.name[ops.op[row].value])];
      if (type != WorkType::kOther) return type;
    }
    return WorkTypeOfClass(ops.op_class[row]);
  }

  void AddHost() {
    const SliceTable& slices = trace_.slices;
    const RowRange rows = RowsWithin(slices.ts_ns, timeline_.window.host);
    for (size_t row = rows.first; row < rows.last; ++row) {
      if (slices.category[row] != SliceCategory::kOperator) continue;
      const WorkType by_name = type_of_[static_cast<uint32_t>(slices.name[row])];
      const auto type = static_cast<size_t>(in_optimizer_[row] != 0 ? WorkType::kOptimizer : by_name);
      ++calls[type];
      host_self_ns[type] += slices.self_ns[row];
    }
  }

  const TraceTimeline& timeline_;
  const Trace& trace_;
  std::vector<WorkType> type_of_;             // by text
  const std::vector<uint8_t>& in_optimizer_;  // by slice
};

void AddRows(const TraceTimeline& timeline, const Types& types, const DeviceTimeline& device,
             TableOf<OperatorTypesRows>& table) {
  const ByType sums = types.OfDevice(device);
  int64_t all_ns = 0;
  std::array<size_t, kWorkTypes> order{};
  for (size_t i = 0; i < kWorkTypes; ++i) order[i] = i, all_ns += sums[i].device_ns;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return sums[a].device_ns > sums[b].device_ns; });
  for (const size_t type : order) {
    const Sums& of = sums[type];
    if (of.gpu_ops == 0) continue;
    auto row = table.Row(*timeline.of);
    row.Set("device", device.device).Set("type", ToString(static_cast<WorkType>(type))).Set("gpu_ops", of.gpu_ops);
    row.Set("device_ns", of.device_ns).Set("share", ShareOf(of.device_ns, all_ns));
    row.Set("window_share", ShareOf(of.device_ns, timeline.window.span.length()));
    row.Set("matrix_unit_share", ShareOf(of.unit_ns[2], of.unit_ns[1] + of.unit_ns[2])).Set("calls", types.calls[type]);
    row.Set("host_self_ns", types.host_self_ns[type]).Set("gpu_op_id", timeline.of->Id(of.longest));
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<OperatorTypesRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) {
    const Types types(timeline, tables.Once(timeline.trace(), InsideOptimizers));
    for (const DeviceTimeline& device : timeline.devices) AddRows(timeline, types, device, table);
  }
  return table;
}

}  // namespace

ANALYSIS(operator_types) = AnalysisOf<OperatorTypesRows>({.run = Compute});

}  // namespace gapless::internal::operator_types_analysis
