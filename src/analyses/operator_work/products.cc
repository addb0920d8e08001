// SPDX-License-Identifier: Apache-2.0
// The work of matrix products, and of attention, which is two of them over the pairs of query and key.
#include <algorithm>

#include "analyses/operator_work/formulas.h"

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

}  // namespace gapless::internal::work
