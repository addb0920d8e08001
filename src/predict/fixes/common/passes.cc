// SPDX-License-Identifier: Apache-2.0
// Assigns slices to passes in a single pass by the autograd, optimiser and loader slices around them, and GPU
// operations by their launches.
#include "predict/fixes/common/passes.h"

#include "analyses/surroundings.h"
#include "analyses/work_type.h"

namespace gapless::internal {
namespace {

Pass MarkedAs(uint8_t around) {
  if ((around & kInLoader) != 0) return Pass::kLoading;
  if ((around & kInOptimizer) != 0) return Pass::kOptimizer;
  return (around & kInAutograd) != 0 ? Pass::kBackward : Pass::kNone;
}

bool IsWork(const SliceTable& slices, size_t row) {
  const SliceCategory category = slices.category[row];
  return category == SliceCategory::kOperator || category == SliceCategory::kRuntime ||
         category == SliceCategory::kDriver;
}

}  // namespace

Passes FindPasses(const Trace& trace) {
  const SliceTable& slices = trace.slices;
  const std::vector<uint8_t> around = Surroundings(trace);
  Passes passes;
  passes.of_slice.resize(slices.size());
  bool after_backward = false;
  StepId step;
  for (size_t row = 0; row < slices.size(); ++row) {
    const Pass marked = MarkedAs(around[row]);
    const bool new_step = slices.step[row].valid() && slices.step[row] != step;
    if (new_step) step = slices.step[row];
    if (marked != Pass::kNone)
      after_backward = marked == Pass::kBackward;
    else if (new_step)
      after_backward = false;
    const bool forward = marked == Pass::kNone && !after_backward && IsWork(slices, row);
    passes.of_slice[row] = forward ? Pass::kForward : marked;
  }
  passes.of_op.resize(trace.gpu_ops.size());
  for (size_t op = 0; op < passes.of_op.size(); ++op)
    if (const SliceId by = LaunchedBy(trace.gpu_ops, op); by.valid()) passes.of_op[op] = passes.of_slice[by.value];
  return passes;
}

}  // namespace gapless::internal
