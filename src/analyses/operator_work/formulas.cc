// SPDX-License-Identifier: Apache-2.0
// The work of operators: of matrix products, of attention, which is two of them over the pairs of query and key, of
// convolutions, and of operators that do a few operations per element.
#include "analyses/operator_work/formulas.h"

#include <algorithm>
#include <cstdlib>

namespace gapless::internal::work {

namespace {

bool IsCausal(std::string_view value) { return value == "True" || value == "1" || value == "2"; }
bool IsNotCausal(std::string_view value) { return value == "False" || value == "0"; }

}  // namespace

Work Product(const WorkFormula& formula, Inputs inputs) {
  const Input *a = At(inputs, formula.at[0]), *b = At(inputs, formula.at[1]);
  Work work;
  if (a == nullptr || b == nullptr || a->shape.empty() || b->shape.empty()) return work;
  work.type = a->type;
  const size_t rank = b->shape.size();
  const bool transposed = formula.at[3] == 1;
  const int64_t inner = rank == 1 ? b->shape[0] : transposed ? b->shape[1] : b->shape[rank - 2];
  const int64_t n = rank == 1 ? 1 : transposed ? b->shape[0] : b->shape[rank - 1];
  const int64_t batch = rank > 2 ? Elements(Shape(b->shape.begin(), b->shape.end() - 2)) : 1;
  const int64_t rows = Elements(Shape(a->shape.begin(), a->shape.end() - 1));
  if (inner != a->shape.back() || batch == 0 || rows % batch != 0) return work;
  work.batch = batch, work.m = rows / batch, work.n = n, work.k = inner;
  work.flops = work.model_flops = 2 * Real(rows) * Real(n) * Real(inner);
  const int64_t out_bytes = work.type == ElementType::kFp8 ? 2 : BytesOf(work.type);  // scaled products give bf16
  if (out_bytes > 0)
    work.bytes = BytesOf(a) + BytesOf(b) + Real(rows) * Real(n) * Real(out_bytes) + BytesOf(At(inputs, formula.at[2]));
  return work;
}

Work Attend(const WorkFormula& formula, Inputs inputs) {
  const int first = formula.at[0];
  const Input *q = At(inputs, first), *k = At(inputs, first + 1), *v = At(inputs, first + 2);
  if (q == nullptr || k == nullptr || v == nullptr || q->shape.size() != 4 || k->shape.size() != 4 ||
      v->shape.size() != 4)
    return {};
  Work work;
  work.type = q->type;
  const Input* offsets = At(inputs, formula.at[4]);
  if (offsets != nullptr && !offsets->shape.empty()) return work;  // sequences of several lengths
  const size_t heads = formula.at[2] == 1 ? 1 : 2, length = 3 - heads;
  const int64_t queries = q->shape[length], keys = k->shape[length], head = q->shape[3], value_head = v->shape[3];
  work.batch = Elements({q->shape[0], q->shape[heads]}), work.m = queries, work.n = keys, work.k = head;
  const Input* causal = At(inputs, formula.at[1]);
  double pairs = Real(queries) * Real(keys);
  if (causal != nullptr && IsCausal(causal->value) && queries == keys)
    pairs = Real(queries) * Real(queries + 1) / 2;
  else if (causal == nullptr || !IsNotCausal(causal->value))
    return work;
  const bool backward = formula.at[3] == 1;
  const double forward = 2 * Real(work.batch) * pairs * Real(head + value_head);
  work.model_flops = backward ? 2 * forward : forward;
  work.flops = work.model_flops + (backward ? 2 * Real(work.batch) * pairs * Real(head) : 0);
  const double out = BytesOf(q) / Real(std::max<int64_t>(1, head)) * Real(value_head);
  work.bytes = (BytesOf(q) + BytesOf(k) + BytesOf(v)) * (backward ? 2 : 1) + out * (backward ? 2 : 1);
  return work;
}

// Convolutions and their gradients, as the matrix products that they amount to.

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

// A few operations per element: norms, softmax, pointwise operators and copies.

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
