// SPDX-License-Identifier: Apache-2.0
// The work of operators that do a few operations per element: norms, softmax, pointwise operators and copies.
#include <algorithm>

#include "analyses/operator_work/formulas.h"

namespace gapless::internal::work {

Work PerElement(const WorkFormula& formula, Inputs inputs) {
  const Input* first = At(inputs, formula.at[0]);
  if (first == nullptr || !first->is_tensor() || first->shape.empty()) return {};
  Work work;
  work.type = first->type;
  work.flops = work.model_flops = Real(Elements(first->shape)) * formula.per_element;
  work.bytes = BytesOf(first) * formula.at[1];
  return work;
}

// One tensor more than the operator has inputs is the one given to be written. The result has the widest type of the
// tensors with dimensions, which scalars follow.
Work Pointwise(const WorkFormula& formula, Inputs inputs) {
  Work work;
  Shape out;
  double read = 0;
  const auto arity = static_cast<size_t>(formula.at[0]);
  if (inputs.size() > arity && inputs.back().is_tensor()) inputs = inputs.first(arity);
  for (const Input& input : inputs) {
    if (!input.list.empty()) return work;
    if (!input.is_tensor()) continue;
    read += BytesOf(&input);
    const bool wider = BytesOf(input.type) > BytesOf(work.type);
    if (out.empty() ? wider || !input.shape.empty() : wider && !input.shape.empty()) work.type = input.type;
    if (input.shape.size() > out.size()) out.insert(out.begin(), input.shape.size() - out.size(), 1);
    for (size_t i = 0; i < input.shape.size(); ++i)
      out[out.size() - 1 - i] = std::max(out[out.size() - 1 - i], input.shape[input.shape.size() - 1 - i]);
  }
  if (work.type == ElementType::kUnknown) return work;
  work.flops = work.model_flops = Real(Elements(out)) * formula.per_element;
  work.bytes = read + Real(Elements(out)) * Real(BytesOf(work.type));
  return work;
}

Work Copy(const WorkFormula&, Inputs inputs) {
  const Input *to = At(inputs, 0), *from = At(inputs, 1);
  Work work;
  if (to == nullptr || !to->is_tensor()) return work;
  work.type = to->type;
  work.flops = work.model_flops = 0;
  work.bytes = BytesOf(to) + BytesOf(from);
  return work;
}

}  // namespace gapless::internal::work
