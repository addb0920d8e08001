// SPDX-License-Identifier: Apache-2.0
// Matrix products, convolutions and attention of each device: how much of the kernel time they are, and whether they
// run on matrix units (tensor cores, matrix cores). The element type is that of the first tensor of the operator that
// launched them.
#include "analyses/rows/matrix_work.h"

#include <map>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/kernel_names.h"
#include "analyses/shapes.h"

namespace gapless::internal::matrix_work_analysis {
namespace {

struct Sums {
  int64_t kernel_ns = 0, unit_ns[3] = {};  // by MatrixUnit
  int64_t off_float32_ns = 0, off_float64_ns = 0;
  std::map<std::string_view, int64_t> dtype_ns[3];
  GpuOpId longest_off;
  int64_t least_major = 0;  // 0: not known
};

// ["GenericList", "float", ""] → float. Recorders write the types of all inputs, "" for what has none.
std::string_view FirstType(std::string_view types) {
  for (size_t at = 0; (at = types.find('"', at)) != types.npos;) {
    const size_t end = types.find('"', at + 1);
    if (end == types.npos) break;
    const std::string_view type = types.substr(at + 1, end - at - 1);
    if (ElementTypeOf(type) != ElementType::kUnknown || type.find("complex") != type.npos) return type;
    at = end + 1;
  }
  return {};
}

// The type of an operator's first tensor, else of the operator around it; each distinct text is read once.
class Types {
 public:
  explicit Types(const Trace& trace)
      : trace_(trace), first_(trace.strings.size()), read_(trace.strings.size()), major_(trace.strings.size(), -1) {}

  // Returns the compute capability that a kernel of this name needs at least; 0 if the name does not say.
  int64_t LeastMajor(StringId kernel) {
    int64_t& major = major_[static_cast<uint32_t>(kernel)];
    if (major < 0) major = LeastComputeMajor(trace_.Text(kernel));
    return major;
  }

  std::string_view Of(SliceId op) {
    for (SliceId at = op; at.valid(); at = trace_.slices.parent[at.value])
      if (const std::string_view type = First(trace_.slices.input_types[at.value]); !type.empty()) return type;
    return {};
  }

 private:
  std::string_view First(StringId types) {
    const auto id = static_cast<uint32_t>(types);
    if (read_[id] == 0) first_[id] = FirstType(trace_.Text(types)), read_[id] = 1;
    return first_[id];
  }

  const Trace& trace_;
  std::vector<std::string_view> first_;  // by text
  std::vector<uint8_t> read_;
  std::vector<int64_t> major_;  // by text; -1: not read yet
};

// Adds a kernel off the units to the sum of what it multiplies.
void AddOffUnits(KernelPrecision by_name, std::string_view operator_type, int64_t ns, Sums& sums) {
  ElementType type = ElementTypeOf(by_name);
  if (type == ElementType::kUnknown && by_name == KernelPrecision::kUnknown) type = ElementTypeOf(operator_type);
  const bool complex = operator_type.find("complex") != operator_type.npos;
  if (type == ElementType::kFp64) sums.off_float64_ns += ns;
  if (type == ElementType::kFp32 && !complex) sums.off_float32_ns += ns;
  if (type == ElementType::kUnknown && by_name == KernelPrecision::kUnknown && operator_type.empty())
    sums.off_float32_ns += ns;
}

Sums Collect(const GpuOpTable& ops, const DeviceTimeline& device, Types& types) {
  Sums sums;
  for (const uint32_t row : device.RowsInWindow()) {
    const GpuOpClass kind = ops.op_class[row];
    if (ops.kind[row] != GpuOpKind::kKernel || kind == GpuOpClass::kCommunication) continue;
    sums.kernel_ns += ops.dur_ns[row];
    if (!IsMatrixWork(kind)) continue;
    sums.least_major = std::max(sums.least_major, types.LeastMajor(ops.name[row]));
    const MatrixUnit unit = ops.matrix_unit[row];
    sums.unit_ns[static_cast<size_t>(unit)] += ops.dur_ns[row];
    const std::string_view type = types.Of(ops.op[row]);
    if (!type.empty()) sums.dtype_ns[static_cast<size_t>(unit)][type] += ops.dur_ns[row];
    if (unit == MatrixUnit::kNo) AddOffUnits(ops.precision[row], type, ops.dur_ns[row], sums);
    if (unit == MatrixUnit::kNo && (!sums.longest_off.valid() || ops.dur_ns[row] > ops.dur_ns[sums.longest_off.value]))
      sums.longest_off = GpuOpId(row);
  }
  return sums;
}

std::string_view MostOf(const std::map<std::string_view, int64_t>& times) {
  const auto most =
      std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == times.end() ? std::string_view() : most->first;
}

std::string_view DtypeOf(const Sums& sums) {
  for (const MatrixUnit unit : {MatrixUnit::kNo, MatrixUnit::kYes, MatrixUnit::kUnknown})
    if (const auto type = MostOf(sums.dtype_ns[static_cast<size_t>(unit)]); !type.empty()) return type;
  return {};
}

void DescribeDevice(const Trace& trace, int32_t device, TableOf<MatrixWorkRows>::RowWriter& row) {
  const DeviceTable& devices = trace.devices;
  const size_t at = FindDevice(devices, device);
  if (at == devices.size()) return;
  row.Set("device_name", trace.Text(devices.name[at])).Set("vendor", ToString(devices.vendor[at]));
  row.Set("compute_major", devices.compute_major[at]).Set("compute_minor", devices.compute_minor[at]);
}

void AddRow(const TraceTimeline& timeline, const DeviceTimeline& device, Types& types, TableOf<MatrixWorkRows>& table) {
  const Sums sums = Collect(timeline.trace().gpu_ops, device, types);
  const int64_t unknown = sums.unit_ns[0], off = sums.unit_ns[1], on = sums.unit_ns[2], matrix = unknown + off + on;
  auto row = table.Row(*timeline.of);
  row.Set("device", device.device);
  DescribeDevice(timeline.trace(), device.device, row);
  row.Set("kernel_ns", sums.kernel_ns).Set("matrix_ns", matrix).Set("on_units_ns", on).Set("off_units_ns", off);
  row.Set("unknown_ns", unknown).Set("share", ShareOf(matrix, sums.kernel_ns));
  row.Set("on_units_share", ShareOf(on, on + off)).Set("dtype", DtypeOf(sums));
  row.Set("gpu_op_id", timeline.of->Id(sums.longest_off));
  if (sums.least_major > 0) row.Set("least_compute_major", sums.least_major);
  row.Set("off_float32_ns", sums.off_float32_ns).Set("off_float64_ns", sums.off_float64_ns);
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<MatrixWorkRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) {
    Types types(timeline.trace());
    for (const DeviceTimeline& device : timeline.devices) AddRow(timeline, device, types, table);
  }
  return table;
}

}  // namespace

ANALYSIS(matrix_work) = AnalysisOf<MatrixWorkRows>({.run = Compute});

}  // namespace gapless::internal::matrix_work_analysis
