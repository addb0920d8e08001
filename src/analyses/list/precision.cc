// SPDX-License-Identifier: Apache-2.0
// In which precision a run computes: the time of matrix kernels by the element type of the operator that launched them,
// what changing types costs, and whether autocast and a gradient scaler are at work.
//
// Autocast shows as operators that take weights and convert their inputs themselves: aten::to with children inside
// aten::linear. Its Python frames prove nothing, models open it to switch it off. A gradient scaler shows by the
// operators only it calls, aten::_amp_….
#include <array>
#include <span>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/rows/copy_places.h"
#include "analyses/shapes.h"

namespace gapless::internal::precision_analysis {
namespace {

struct PrecisionRows : TypedRows<PrecisionRows> {
  static constexpr std::string_view kName = "precision";
  static constexpr std::string_view kHelp =
      "Element types of matrix work, what casts cost, autocast and gradient scaler in use";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"autocast", kInt, "",
       "1: seen at work, as a conversion directly inside an operator with weights; 0: not; NULL: no operators were "
       "recorded"},
      {"grad_scaler", kInt, "",
       "1: seen at work, as an operator aten::_amp_…; 0: not; NULL: no operators were recorded"},
      {"matrix_ns", kInt, "ns", "kernels of products, convolutions and attention"},
      {"float_ns", kInt, "ns", "of these, on 32-bit floats (TF32 included)"},
      {"half_ns", kInt, "ns", "on 16-bit floats"},
      {"bfloat16_ns", kInt, "ns", "on bfloat16"},
      {"float8_ns", kInt, "ns", "on 8-bit floats"},
      {"other_ns", kInt, "ns", "on other types"},
      {"unknown_ns", kInt, "ns", "types were not recorded, and kernel names do not show them"},
      {"low_precision_share", kReal, "share", "half, bfloat16, float8 of what is known; NULL: nothing is"},
      {"cast_calls", kInt, "", "kernels that only change the element type (copy_places)"},
      {"cast_calls_per_step", kReal, "", "NULL: no complete step"},
      {"cast_ns", kInt, "ns", "their time"},
      {"cast_share", kReal, "share", "of the time of all kernels without communication"},
  };
};

enum Type : uint8_t { kFloat, kHalf, kBfloat16, kFloat8, kOtherType, kUnknown, kTypes, kUnseen };

Type TypeOfElement(ElementType type) {
  switch (type) {
    case ElementType::kUnknown: return kUnknown;
    case ElementType::kFp32: return kFloat;
    case ElementType::kFp16: return kHalf;
    case ElementType::kBf16: return kBfloat16;
    case ElementType::kFp8: return kFloat8;
    default: return kOtherType;
  }
}

// Returns the type of the first tensor in ["GenericList","float",""].
Type TypeIn(std::string_view types) {
  for (size_t at = 0; (at = types.find('"', at)) != types.npos;) {
    const size_t end = types.find('"', at + 1);
    if (end == types.npos) break;
    const Type type = TypeOfElement(ElementTypeOf(types.substr(at + 1, end - at - 1)));
    if (type != kUnknown) return type;
    at = end + 1;
  }
  return kUnknown;
}

bool TakesWeights(std::string_view name) {
  for (const std::string_view known :
       {"aten::linear", "aten::conv1d", "aten::conv2d", "aten::conv3d", "aten::matmul", "aten::bmm", "aten::addmm",
        "aten::mm", "aten::baddbmm", "aten::einsum", "aten::scaled_dot_product_attention", "aten::_convolution"})
    if (name == known) return true;
  return false;
}

struct Precision {
  std::array<int64_t, kTypes> type_ns{};
  int64_t kernel_ns = 0;
  bool operators = false, autocast = false, scaler = false;
};

class Reader {
 public:
  explicit Reader(const TraceTimeline& timeline)
      : timeline_(timeline), trace_(timeline.trace()), types_(trace_.strings.size(), kUnseen) {
    AddKernels();
    FindAutocast();
  }
  Precision found;

 private:
  Type TypeOf(SliceId op) {
    for (SliceId at = op; at.valid(); at = trace_.slices.parent[at.value]) {
      const StringId text = trace_.slices.input_types[at.value];
      if (text == StringId::kNone) continue;
      uint8_t& type = types_[static_cast<uint32_t>(text)];
      if (type == kUnseen) type = TypeIn(trace_.Text(text));
      if (type != kUnknown) return static_cast<Type>(type);
    }
    return kUnknown;
  }

  // The operator's inputs define the precision; the kernel's name does if the inputs were not recorded.
  Type TypeOfKernel(size_t row) {
    const Type by_operator = TypeOf(trace_.gpu_ops.op[row]);
    if (by_operator != kUnknown) return by_operator;
    const KernelPrecision by_name = trace_.gpu_ops.precision[row];
    const bool other = by_name == KernelPrecision::kMixed || by_name == KernelPrecision::kFp4;
    return other ? kOtherType : TypeOfElement(ElementTypeOf(by_name));
  }

  void AddKernels() {
    const GpuOpTable& ops = trace_.gpu_ops;
    const RowRange rows = RowsWithin(ops.ts_ns, timeline_.window.span);
    for (size_t row = rows.first; row < rows.last; ++row) {
      const GpuOpClass kind = ops.op_class[row];
      if (ops.kind[row] != GpuOpKind::kKernel || kind == GpuOpClass::kCommunication) continue;
      found.kernel_ns += ops.dur_ns[row];
      if (IsMatrixWork(kind)) found.type_ns[TypeOfKernel(row)] += ops.dur_ns[row];
    }
  }

  void FindAutocast() {
    const SliceTable& slices = trace_.slices;
    std::vector<uint8_t> weights(trace_.strings.size());
    for (size_t id = 0; id < weights.size(); ++id) {
      const std::string_view text = trace_.strings[static_cast<StringId>(id)];
      weights[id] = TakesWeights(text);
      found.scaler |= text.starts_with("aten::_amp_");
    }
    const StringId to = trace_.strings.Find("aten::to");
    for (size_t row = 0; row < slices.size(); ++row) {
      found.operators |= slices.category[row] == SliceCategory::kOperator;
      if (to == StringId::kNone || slices.name[row] != to || slices.self_ns[row] == slices.dur_ns[row]) continue;
      const SliceId parent = slices.parent[row];  // aten::to that has children converts
      found.autocast |= parent.valid() && weights[static_cast<uint32_t>(slices.name[parent.value])] != 0;
    }
  }

  const TraceTimeline& timeline_;
  const Trace& trace_;
  std::vector<uint8_t> types_;
};

void AddRow(const TraceTimeline& timeline, const CopyPlacesRows& places, std::span<const size_t> rows_of_trace,
            TableOf<PrecisionRows>& table) {
  const Precision found = Reader(timeline).found;
  int64_t cast_calls = 0, cast_ns = 0, matrix = 0;
  for (const size_t row : rows_of_trace)
    if (places.Text(row, "kind") == "cast")
      cast_calls += places.Int(row, "calls"), cast_ns += places.Int(row, "device_ns");
  for (const int64_t ns : found.type_ns) matrix += ns;
  const int64_t low = found.type_ns[kHalf] + found.type_ns[kBfloat16] + found.type_ns[kFloat8];
  auto row = table.Row(*timeline.of);
  if (found.operators) row.Set("autocast", found.autocast).Set("grad_scaler", found.scaler);
  row.Set("matrix_ns", matrix);
  row.SetEach({"float_ns", "half_ns", "bfloat16_ns", "float8_ns", "other_ns", "unknown_ns"}, found.type_ns);
  row.Set("low_precision_share", ShareOf(low, matrix - found.type_ns[kUnknown])).Set("cast_calls", cast_calls);
  row.Set("cast_calls_per_step", ShareOf(cast_calls, static_cast<int64_t>(timeline.window.steps.size())));
  row.Set("cast_ns", cast_ns).Set("cast_share", ShareOf(cast_ns, found.kernel_ns));
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<PrecisionRows> table;
  const auto places = tables.Get<CopyPlacesRows>();
  const RowsByTrace by_trace(places);
  for (const TraceTimeline& timeline : tables.Timelines())
    if (!timeline.devices.empty()) AddRow(timeline, places, by_trace.Of(timeline.of->index), table);
  return table;
}

}  // namespace

ANALYSIS(precision) = AnalysisOf<PrecisionRows>({.run = Compute});

}  // namespace gapless::internal::precision_analysis
