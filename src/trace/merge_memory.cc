// SPDX-License-Identifier: Apache-2.0
// Merges the memory events: orders them by time, and gathers each column in that order.
#include "trace/merge_columns.h"

namespace gapless::internal::merging {

// Events of one time keep their order in the file: a release comes before the allocation that takes its place.
void Merger::OrderMemoryEvents() {
  memory_order_ = OrderByTime(&Shard::Impl::memory_events, kMemoryList, [](uint32_t) { return int64_t{0}; });
}

void Merger::GatherMemoryEvents(Tasks& tasks) {
  AddGatherTasks(tasks, memory_order_, &Shard::Impl::memory_events, trace_.memory_events);
}

// The slices that events lie in are found when slices are nested.
void Merger::FinishMemoryEvents() {
  trace_.memory_events.slice = Column<SliceId>::OfSize(memory_order_.rows.size(), SliceId());
  memory_order_ = {};
}

}  // namespace gapless::internal::merging
