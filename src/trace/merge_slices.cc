// SPDX-License-Identifier: Apache-2.0
// Merges the slices: orders them by time, and gathers each column in that order.
#include "trace/merge_columns.h"

namespace gapless::internal::merging {

// Longer slices come first among equal starts, so that parents come before their children.
void Merger::OrderSlices() {
  const ColumnSegments<SliceStore, int64_t> lengths(shards_, &Shard::Impl::slices, &SliceStore::dur_ns);
  slice_order_ =
      OrderByTime(&Shard::Impl::slices, kSliceList, [&](uint32_t source) -> int64_t { return -lengths[source]; });
}

void Merger::GatherSlices(Tasks& tasks) { AddGatherTasks(tasks, slice_order_, &Shard::Impl::slices, trace_.slices); }

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
