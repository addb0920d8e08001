// SPDX-License-Identifier: Apache-2.0
// The work of convolutions and of their gradients, as the matrix products that they amount to.
#include <algorithm>
#include <cstdlib>

#include "analyses/operator_work/formulas.h"

namespace gapless::internal::work {
namespace {

Work OfProducts(const Input& weight, int64_t positions, int64_t out_channels, double products) {
  Work work;
  const int64_t k = Elements(Shape(weight.shape.begin() + 1, weight.shape.end()));
  work.type = weight.type;
  work.k = k;
  work.flops = work.model_flops = 2 * Real(positions) * Real(out_channels) * Real(k) * products;
  return work;
}

// Returns the output's size in each spatial dimension; empty if not recorded.
Shape OutputSpace(Inputs inputs, const WorkFormula& formula, const Shape& input, const Shape& weight) {
  const auto value = [&](int place) {
    const Input* at = At(inputs, place);
    return at == nullptr ? std::vector<int64_t>() : ReadInts(at->value);
  };
  const auto stride = value(formula.at[0]), padding = value(formula.at[1]);
  const auto dilation = formula.at[2] < 0 ? std::vector<int64_t>{1} : value(formula.at[2]);
  if (stride.empty() || padding.empty() || dilation.empty()) return {};
  Shape space;
  for (size_t i = 2; i < input.size(); ++i) {
    const auto of = [&](const std::vector<int64_t>& list) { return list[std::min(i - 2, list.size() - 1)]; };
    constexpr int64_t kMax = 1'000'000;  // far beyond any real one
    if (of(stride) <= 0 || std::max({of(stride), std::abs(of(padding)), std::abs(of(dilation))}) > kMax) return {};
    const int64_t size = (input[i] + 2 * of(padding) - of(dilation) * (weight[i] - 1) - 1) / of(stride) + 1;
    if (size <= 0) return {};
    space.push_back(size);
  }
  return space;
}

bool AreConvOperands(const Input* input, const Input* weight) {
  return input != nullptr && weight != nullptr && input->shape.size() >= 3 &&
         input->shape.size() == weight->shape.size() && weight->shape[1] > 0;
}

bool IsTrue(const Input* input) { return input != nullptr && input->value == "True"; }

}  // namespace

Work Convolve(const WorkFormula& formula, Inputs inputs) {
  const Input *input = At(inputs, 0), *weight = At(inputs, 1);
  if (!AreConvOperands(input, weight)) return {};
  Work work;
  work.type = input->type;
  const Shape &x = input->shape, &w = weight->shape;
  if (formula.at[3] == kAlways || IsTrue(At(inputs, formula.at[3]))) {  // weight is [C, K/groups, …]
    work.flops = work.model_flops = 2 * Real(Elements(x)) * Real(Elements(w)) / Real(std::max<int64_t>(1, w[0]));
    return work;
  }
  const Shape space = OutputSpace(inputs, formula, x, w);
  const int64_t groups = x[1] / w[1];
  if (space.empty() || groups == 0 || x[1] % w[1] != 0) return work;
  const int64_t positions = Elements({x[0], Elements(space)});
  work = OfProducts(*weight, positions, w[0], 1);
  work.type = input->type;
  work.batch = groups, work.m = positions, work.n = w[0] / groups;
  work.bytes = BytesOf(input) + BytesOf(weight) + Real(positions) * Real(w[0]) * Real(BytesOf(work.type));
  return work;
}

Work ConvolveBackward(const WorkFormula&, Inputs inputs) {
  const Input *grad = At(inputs, 0), *input = At(inputs, 1), *weight = At(inputs, 2), *mask = At(inputs, 10);
  if (!AreConvOperands(input, weight) || grad == nullptr || grad->shape.size() != input->shape.size()) return {};
  Work work;
  work.type = grad->type;
  if (mask == nullptr || !mask->value.starts_with('[')) return work;
  const std::vector<bool> wanted = ReadBools(mask->value);  // gradients of input, weight, bias
  const bool of_input = !wanted.empty() && wanted[0], of_weight = wanted.size() > 1 && wanted[1];
  const double products = static_cast<double>(of_input) + static_cast<double>(of_weight);
  const bool transposed = IsTrue(At(inputs, 7));
  const Shape &from = transposed ? input->shape : grad->shape, &w = weight->shape;
  if (transposed) {
    work.flops = work.model_flops =
        2 * Real(Elements(from)) * Real(Elements(w)) / Real(std::max<int64_t>(1, w[0])) * products;
  } else {
    const int64_t positions = Elements(from) / std::max<int64_t>(1, from[1]);
    const int64_t groups = std::max<int64_t>(1, input->shape[1] / w[1]);
    work = OfProducts(*weight, positions, w[0], products);
    work.batch = groups, work.m = positions, work.n = w[0] / groups;
    work.type = grad->type;
  }
  work.bytes =
      BytesOf(grad) + products * (BytesOf(weight) + BytesOf(input));  // one is read, the other's gradient written
  return work;
}

Work ConvolveBackwardWeight(const WorkFormula&, Inputs inputs) {
  const Input *input = At(inputs, 0), *grad = At(inputs, 1), *weight = At(inputs, 2);
  if (!AreConvOperands(input, weight) || grad == nullptr || grad->shape.size() != input->shape.size()) return {};
  const int64_t channels = grad->shape[1], groups = input->shape[1] / weight->shape[1];
  if (channels <= 0 || channels != weight->shape[0] || groups <= 0) return {};
  const int64_t positions = Elements(grad->shape) / channels;
  Work work = OfProducts(*weight, positions, channels, 1);
  work.type = input->type;
  work.batch = groups, work.m = positions, work.n = channels / groups;
  if (input->is_tensor()) work.bytes = BytesOf(input) + BytesOf(grad) + BytesOf(weight);
  return work;
}

Work ConvolveBackwardInput(const WorkFormula&, Inputs inputs) {
  const Input *size = At(inputs, 0), *grad = At(inputs, 1), *weight = At(inputs, 2);
  if (!AreConvOperands(grad, weight)) return {};
  const int64_t positions = Elements(grad->shape) / std::max<int64_t>(1, grad->shape[1]);
  Work work = OfProducts(*weight, positions, weight->shape[0], 1);
  if (const auto input = ReadInts(size->value); input.size() == grad->shape.size())
    work.bytes = BytesOf(grad) + BytesOf(weight) + Real(Elements(input)) * Real(BytesOf(grad->type));
  return work;
}

}  // namespace gapless::internal::work
