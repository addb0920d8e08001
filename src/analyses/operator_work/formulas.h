// SPDX-License-Identifier: Apache-2.0
// The formulas of kinds of operators, for the table of operator_work.cc. Each reads the places of its operands from
// `formula.at`; a figure that the inputs do not give is NaN.
#pragma once

#include <span>

#include "analyses/operator_work.h"

namespace gapless::internal::work {

using Inputs = std::span<const Input>;

inline const Input* At(Inputs inputs, int place) {
  return place >= 0 && static_cast<size_t>(place) < inputs.size() ? &inputs[static_cast<size_t>(place)] : nullptr;
}

inline double BytesOf(const Input* input) {
  if (input == nullptr || !input->is_tensor()) return 0;
  return static_cast<double>(Elements(input->shape)) * static_cast<double>(BytesOf(input->type));
}

inline double Real(int64_t value) { return static_cast<double>(value); }

// at = {A, B, addend, B is transposed}; A [… m, k], B [… k, n] or [n, k].
Work Product(const WorkFormula& formula, Inputs inputs);
// at = {query, causal, heads before length, products again, sequence offsets}; key and value follow the query.
Work Attend(const WorkFormula& formula, Inputs inputs);

// The place of `transposed` in Convolve() for an operator that is always transposed.
inline constexpr int kAlways = 100;
// (input, weight, …), at = {stride, padding, dilation, transposed}.
Work Convolve(const WorkFormula& formula, Inputs inputs);
// (grad_output, input, weight, …, transposed 7, …, output_mask 10)
Work ConvolveBackward(const WorkFormula& formula, Inputs inputs);
// (input, grad_output, weight)
Work ConvolveBackwardWeight(const WorkFormula& formula, Inputs inputs);
// cudnn_convolution_backward_input(size, grad_output, weight, …)
Work ConvolveBackwardInput(const WorkFormula& formula, Inputs inputs);

// Norms and softmax; at = {first tensor, tensors of its size moved}.
Work PerElement(const WorkFormula& formula, Inputs inputs);
// All tensors are read, and one of the broadcast size is written; at = {inputs of the operator}.
Work Pointwise(const WorkFormula& formula, Inputs inputs);
Work Copy(const WorkFormula& formula, Inputs inputs);

}  // namespace gapless::internal::work
