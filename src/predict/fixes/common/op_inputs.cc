// SPDX-License-Identifier: Apache-2.0
// Parses inputs once per distinct text, and computes types and work of operators from them.
#include "predict/fixes/common/op_inputs.h"

namespace gapless::internal {

const std::vector<Input>& OpInputs::Of(SliceId op) {
  static const std::vector<Input> kNone;
  if (!op.valid()) return kNone;
  const SliceTable& slices = trace_.slices;
  const StringId shapes = slices.input_shapes[op.value], types = slices.input_types[op.value],
                 values = slices.concrete_inputs[op.value];
  if (shapes == StringId::kNone) return kNone;
  const auto [at, is_new] = known_.try_emplace({shapes, types, values});
  if (is_new) at->second = ReadInputs(trace_.Text(shapes), trace_.Text(types), trace_.Text(values));
  return at->second;
}

ElementType OpInputs::TypeOf(SliceId op) {
  for (SliceId at = op; at.valid(); at = trace_.slices.parent[at.value])
    for (const Input& input : Of(at))
      if (IsFloatingPoint(input.type)) return input.type;
  return ElementType::kUnknown;
}

Work OpInputs::WorkOf(SliceId op) {
  if (!op.valid()) return {};
  const WorkFormula* formula = FindWorkFormula(trace_.Text(trace_.slices.name[op.value]));
  if (formula == nullptr) return {};
  const SliceId parent = trace_.slices.parent[op.value];
  const bool of_caller = !formula->inputs_of.empty() && parent.valid() &&
                         trace_.Text(trace_.slices.name[parent.value]) == formula->inputs_of;
  return formula->work(*formula, Of(of_caller ? parent : op));
}

std::vector<uint8_t> Float32OffUnits(const Trace& trace) {
  const GpuOpTable& ops = trace.gpu_ops;
  OpInputs inputs(trace);
  std::vector<uint8_t> is_float32(ops.size());
  for (uint32_t op = 0; op < ops.size(); ++op) {
    if (!IsMatrixWork(ops.op_class[op]) || ops.matrix_unit[op] == MatrixUnit::kYes) continue;
    const KernelPrecision by_name = ops.precision[op];
    const ElementType type = by_name == KernelPrecision::kUnknown ? inputs.TypeOf(ops.op[op]) : ElementTypeOf(by_name);
    const bool unknown = by_name == KernelPrecision::kUnknown && type == ElementType::kUnknown;
    is_float32[op] = type == ElementType::kFp32 || unknown ? 1 : 0;
  }
  return is_float32;
}

}  // namespace gapless::internal
