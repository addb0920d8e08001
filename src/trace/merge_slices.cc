// SPDX-License-Identifier: Apache-2.0
// Merges the slices: orders them by time, and gathers each column in that order.
#include "trace/merge_columns.h"

namespace gapless::internal::merging {

// Longer slices come first among equal starts, so that parents come before their children.
void Merger::OrderSlices() {
  slice_order_ = OrderByTime(&Shard::Impl::slices, kSliceList, [](int64_t length) { return -length; });
}

void Merger::GatherSlices(Tasks& tasks) {
  AddGatherTasks(tasks, slice_order_, &Shard::Impl::slices, trace_.slices);
  tasks.push_back([this] {
    trace_.slices.thread = Gather(shards_, slice_order_, &Shard::Impl::slices, &SliceStore::thread,
                                  [this](uint32_t local, uint32_t shard) { return thread_ids_[shard][local]; });
  });
}

// The columns that are derived later start out absent.
void Merger::FinishSlices() {
  SliceTable& out = trace_.slices;
  const size_t rows = slice_order_.rows.size();
  slice_order_ = {};
  out.self_ns = Column<int64_t>::OfSize(rows);
  out.depth = Column<uint16_t>::OfSize(rows);
  out.parent = Column<SliceId>::OfSize(rows, SliceId());
  out.step = Column<StepId>::OfSize(rows, StepId());
}

}  // namespace gapless::internal::merging
