// SPDX-License-Identifier: Apache-2.0
// Merges the GPU operations: orders them by time, and gathers each column in that order.
#include "trace/merge_columns.h"

namespace gapless::internal::merging {

// GPU operations that start together keep their order in the file.
void Merger::OrderGpuOps() {
  gpu_op_order_ = OrderByTime(&Shard::Impl::gpu_ops, kGpuOpList, [](uint32_t) { return int64_t{0}; });
}

void Merger::GatherGpuOps(Tasks& tasks) { AddGatherTasks(tasks, gpu_op_order_, &Shard::Impl::gpu_ops, trace_.gpu_ops); }

void Merger::FinishGpuOps() {
  const size_t rows = gpu_op_order_.rows.size();
  gpu_op_order_ = {};
  trace_.gpu_ops.launch = Column<SliceId>::OfSize(rows, SliceId());
  trace_.gpu_ops.op = Column<SliceId>::OfSize(rows, SliceId());
  trace_.gpu_ops.step = Column<StepId>::OfSize(rows, StepId());
}

}  // namespace gapless::internal::merging
