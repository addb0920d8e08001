// SPDX-License-Identifier: Apache-2.0
// Operators whose arithmetic is known from their shapes, held against what the device can do.
//
// A row is one operator with one set of inputs on one device; the operator is the innermost around the launches, so
// nothing counts twice. Time is that of all operations it launched, layout changes of a library included: the user
// pays for them. The roofline is max(FLOPs / peak, bytes / bandwidth); the share of it may exceed 1 where operands stay
// in the cache. Groups are looked up once per operator that launched something, shapes read once per group.
//
// Recorders before 2022 wrote no strides. The size of a convolution's output is then that of the gradient that goes
// into its backward pass, when all backward passes with the same input and weight have the same.
#include "analyses/rows/roofline.h"

#include <cmath>
#include <map>
#include <unordered_map>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/operator_work.h"

namespace gapless::internal::roofline_analysis {
namespace {

struct Key {
  StringId name, shapes, types, values;
  int32_t device;
  friend bool operator==(const Key&, const Key&) = default;
};
struct KeyHash {
  size_t operator()(const Key& key) const {
    uint64_t hash = static_cast<uint32_t>(key.device);
    for (const StringId id : {key.name, key.shapes, key.types, key.values})
      hash = (hash ^ static_cast<uint32_t>(id)) * 0x9e3779b97f4a7c15ULL, hash ^= hash >> 29;
    return static_cast<size_t>(hash);
  }
};

struct Group {
  Key key;
  const WorkFormula* formula = nullptr;
  int64_t calls = 0, device_ns = 0, unit_ns[3] = {}, longest_ns = -1;
  int64_t vector_ns = 0;  // kernels that multiply a matrix by a vector: on the ordinary units, in float32 or float64
  double sm_time = 0, sm_ns = 0;
  SliceId slice{};
  GpuOpId longest{};
};

class Groups {
 public:
  explicit Groups(const TraceTimeline& timeline)
      : trace_(timeline.trace()), formula_of_(trace_.strings.size()), group_of_(trace_.slices.size(), -1) {
    for (size_t id = 0; id < formula_of_.size(); ++id)
      formula_of_[id] = FindWorkFormula(trace_.strings[static_cast<StringId>(id)]);
    const RowRange rows = RowsWithin(trace_.gpu_ops.ts_ns, timeline.window.span);
    for (size_t row = rows.first; row < rows.last; ++row) Add(row);
  }

  std::vector<Group> groups;

  // All work of the device.
  int64_t& DeviceNs(int32_t device) {
    if (last_ == nullptr || last_->first != device) last_ = &*device_ns_.try_emplace(device, 0).first;
    return last_->second;
  }

 private:
  void Add(size_t row) {
    const GpuOpTable& ops = trace_.gpu_ops;
    DeviceNs(ops.device[row]) += ops.dur_ns[row];
    const SliceId op = ops.op[row];
    const CopyKind copy = ops.copy_kind[row];
    if (copy != CopyKind::kNone && copy != CopyKind::kDtoD) return;  // not through the device's memory alone
    if (!op.valid() || formula_of_[static_cast<uint32_t>(trace_.slices.name[op.value])] == nullptr) return;
    int32_t& at = group_of_[op.value];
    if (at < 0) at = GroupOf(op, ops.device[row]);
    Group& group = groups[static_cast<size_t>(at)];
    group.device_ns += ops.dur_ns[row];
    if (ops.kind[row] != GpuOpKind::kKernel) return;
    const GpuOpClass kind = ops.op_class[row];
    if (IsMatrixWork(kind)) group.unit_ns[static_cast<size_t>(ops.matrix_unit[row])] += ops.dur_ns[row];
    if (kind == GpuOpClass::kGemv) group.vector_ns += ops.dur_ns[row];
    if (const auto blocks = static_cast<double>(ops.blocks_per_sm[row]); blocks > 0) {
      group.sm_time += std::min(1.0, blocks) * static_cast<double>(ops.dur_ns[row]);
      group.sm_ns += static_cast<double>(ops.dur_ns[row]);
    }
    if (ops.dur_ns[row] > group.longest_ns) group.longest_ns = ops.dur_ns[row], group.longest = GpuOpId(row);
  }

  SliceId InputsOf(SliceId op, std::string_view caller) const {
    const SliceId parent = trace_.slices.parent[op.value];
    return !caller.empty() && parent.valid() && trace_.Text(trace_.slices.name[parent.value]) == caller ? parent : op;
  }

  int32_t GroupOf(SliceId op, int32_t device) {
    const SliceTable& slices = trace_.slices;
    const uint32_t at = op.value;
    const WorkFormula* formula = formula_of_[static_cast<uint32_t>(slices.name[at])];
    const bool by_value = formula->kind == WorkKind::kConv || formula->kind == WorkKind::kAttention;
    const uint32_t inputs = InputsOf(op, formula->inputs_of).value;
    const Key key{slices.name[at], slices.input_shapes[inputs], slices.input_types[inputs],
                  by_value ? slices.concrete_inputs[inputs] : StringId::kNone, device};
    const auto [found, is_new] = index_.try_emplace(key, static_cast<int32_t>(groups.size()));
    if (is_new) groups.push_back({.key = key, .formula = formula, .slice = op});
    ++groups[static_cast<size_t>(found->second)].calls;
    return found->second;
  }

  const Trace& trace_;
  std::vector<const WorkFormula*> formula_of_;  // by text
  std::vector<int32_t> group_of_;               // by slice
  std::unordered_map<Key, int32_t, KeyHash> index_;
  std::unordered_map<int32_t, int64_t> device_ns_;     // by device
  std::pair<const int32_t, int64_t>* last_ = nullptr;  // the one asked for last, since most recordings have one device
};

// Convolutions by the shapes of input and weight, from the inputs of their backward passes.
class Convolutions {
 public:
  explicit Convolutions(const Trace& trace) : trace_(trace) {
    const SliceTable& slices = trace.slices;
    std::vector<uint8_t> is_backward(trace.strings.size()), is_read(trace.strings.size());  // by text
    for (size_t id = 0; id < is_backward.size(); ++id)
      is_backward[id] = trace.strings[static_cast<StringId>(id)] == kConvolutionGradient;
    for (size_t row = 0; row < slices.size(); ++row) {
      if (is_backward[static_cast<uint32_t>(slices.name[row])] == 0) continue;
      if (uint8_t& read = is_read[static_cast<uint32_t>(slices.input_shapes[row])]; read == 0) Read(row), read = 1;
    }
  }

  // Returns NaN in all fields if no backward pass shows the values, or if passes differ.
  Work Of(std::span<const Input> inputs) const {
    if (inputs.size() < 2) return {};
    const auto found = by_operands_.find({inputs[0].shape, inputs[1].shape});
    return found == by_operands_.end() ? Work() : found->second;
  }

 private:
  void Read(size_t row) {
    const SliceTable& slices = trace_.slices;
    const std::vector<Input> inputs =
        ReadInputs(trace_.Text(slices.input_shapes[row]), trace_.Text(slices.input_types[row]), "");
    if (inputs.size() < 3) return;
    const Work work = WorkOfConvolution(inputs);
    const auto [at, is_new] = by_operands_.try_emplace({inputs[0].shape, inputs[2].shape}, work);
    if (!is_new && at->second.flops != work.flops) at->second = Work();
  }

  const Trace& trace_;
  std::map<std::pair<Shape, Shape>, Work> by_operands_;
};

Work WorkOf(const Group& group, const Trace& trace, const Convolutions& convolutions) {
  const std::vector<Input> inputs =
      ReadInputs(trace.Text(group.key.shapes), trace.Text(group.key.types), trace.Text(group.key.values));
  const Work work = group.formula->work(*group.formula, inputs);
  const bool no_stride = std::isnan(work.flops) && trace.Text(group.key.name) == "aten::cudnn_convolution";
  return no_stride ? convolutions.Of(inputs) : work;
}

const DevicePeaks* PeaksOf(const Trace& trace, int32_t device) {
  const size_t row = FindDevice(trace.devices, device);
  return row < trace.devices.size() ? FindDevicePeaks(trace.Text(trace.devices.name[row])) : nullptr;
}

// Products cut their result into tiles, one block each; NaN: not a product, or the device was not described.
double TilesPerSm(const Group& group, const Work& work, const Trace& trace) {
  const WorkKind kind = group.formula->kind;
  const bool backward = trace.Text(group.key.name).find("backward") != std::string_view::npos;
  if ((kind != WorkKind::kGemm && kind != WorkKind::kConv) || backward || work.m <= 0 || work.n <= 0)
    return DevicePeaks::kNone;
  constexpr int64_t kTile = 128;
  const auto tiles = [](int64_t size) { return (size + kTile - 1) / kTile; };
  const double all =
      static_cast<double>(work.batch) * static_cast<double>(tiles(work.m)) * static_cast<double>(tiles(work.n));
  const size_t row = FindDevice(trace.devices, group.key.device);
  if (row == trace.devices.size() || trace.devices.sm_count[row] <= 0) return DevicePeaks::kNone;
  return all / trace.devices.sm_count[row];
}

MatrixUnit UnitOf(const Group& group) {
  const auto* most = std::max_element(std::begin(group.unit_ns), std::end(group.unit_ns));
  return *most > 0 ? static_cast<MatrixUnit>(most - std::begin(group.unit_ns)) : MatrixUnit::kUnknown;
}

void AddSpeed(const Group& group, const Work& work, const DevicePeaks* peaks, TableOf<RooflineRows>::RowWriter& row) {
  const bool by_vector = group.vector_ns > group.unit_ns[0] + group.unit_ns[1] + group.unit_ns[2];
  const bool matrix = IsMatrixWork(group.formula->kind) && !by_vector;
  const MatrixUnit unit = matrix ? UnitOf(group) : MatrixUnit::kNo;
  const WorkKind kind = by_vector ? WorkKind::kPointwise : group.formula->kind;
  const double calls = static_cast<double>(group.calls),
               ns = static_cast<double>(std::max<int64_t>(1, group.device_ns));
  const double peak = peaks == nullptr ? DevicePeaks::kNone : PeakTflops(*peaks, kind, work.type, unit);
  const double bandwidth = peaks == nullptr ? DevicePeaks::kNone : peaks->memory_gbps;
  const double compute_ns = work.flops * calls / peak / 1e3, memory_ns = work.bytes * calls / bandwidth;
  const bool known = compute_ns >= 0 && memory_ns >= 0;
  row.Set("flops", work.flops).Set("model_flops", work.model_flops).Set("bytes", work.bytes);
  row.Set("tflops", work.flops * calls / ns / 1e3).Set("gbps", work.bytes * calls / ns);
  row.Set("intensity", work.flops / work.bytes).Set("matrix_unit", ToString(unit)).Set("peak_tflops", peak);
  row.Set("peak_gbps", bandwidth);
  if (!known) return;
  row.Set("bound", compute_ns >= memory_ns ? "compute" : "memory");
  row.Set("roofline_share", std::max(compute_ns, memory_ns) / ns);
}

void AddRows(const TraceTimeline& timeline, TableOf<RooflineRows>& table) {
  const Trace& trace = timeline.trace();
  Groups found(timeline);
  const Convolutions convolutions(trace);
  std::stable_sort(found.groups.begin(), found.groups.end(), [](const Group& a, const Group& b) {
    return a.key.device != b.key.device ? a.key.device < b.key.device : a.device_ns > b.device_ns;
  });
  for (const Group& group : found.groups) {
    const std::string_view shapes = trace.Text(group.key.shapes);
    const Work work = WorkOf(group, trace, convolutions);
    auto row = table.Row(*timeline.of);
    row.Set("device", group.key.device).Set("operator", trace.Text(group.key.name));
    row.Set("kind", ToString(group.formula->kind)).Set("shapes", shapes);
    row.Set("dtype", work.type == ElementType::kUnknown ? "" : ToString(work.type)).Set("calls", group.calls);
    row.Set("device_ns", group.device_ns).Set("matrix_ns", group.unit_ns[0] + group.unit_ns[1] + group.unit_ns[2]);
    row.Set("share", ShareOf(group.device_ns, found.DeviceNs(group.key.device)));
    AddSpeed(group, work, PeaksOf(trace, group.key.device), row);
    row.Set("sm_share", group.sm_time / group.sm_ns).Set("batch", work.batch).Set("m", work.m).Set("n", work.n);
    row.Set("k", work.k).Set("tiles_per_sm", TilesPerSm(group, work, trace));
    row.Set("source_line", trace.Text(trace.slices.source_line[group.slice.value]));
    row.Set("slice_id", timeline.of->Id(group.slice)).Set("gpu_op_id", timeline.of->Id(group.longest));
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<RooflineRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) AddRows(timeline, table);
  return table;
}

}  // namespace

ANALYSIS(roofline) = AnalysisOf<RooflineRows>({.run = Compute, .cost = 2});

}  // namespace gapless::internal::roofline_analysis
