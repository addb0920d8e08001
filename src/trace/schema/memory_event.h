// SPDX-License-Identifier: Apache-2.0
// Allocations and frees seen by the framework's allocator. Sorted by ts_ns.
#pragma once

#include "trace/columns.h"
#include "trace/enums.h"

namespace gapless::internal {

template <template <class> class Of>
struct MemoryEventColumns {
  Of<int32_t> device = kUnset;
  Of<uint8_t> device_type = kUnset;  // 0 CPU, 1 CUDA or HIP, as the framework numbers them
  Of<MemoryAction> action = BeginsAs{MemoryAction::kAlloc};
  Of<RowOnly<int64_t>> pid = kRequired<Of>;
  Of<RowOnly<int64_t>> tid = kRequired<Of>;
  Of<ThreadOfRow> thread = kUnset;
  Of<int64_t> ts_ns = kRequired<Of>;
  Of<int64_t> bytes = kUnset;
  Of<Derived<SliceId>> slice = kUnset;
  Of<int64_t> address = kUnset;
  Of<int64_t> total_allocated = kUnset;
  Of<int64_t> total_reserved = kUnset;
  Of<int64_t> stream = kUnset;
  Of<StackId> stack = kUnset;
  Of<StringId> category = kUnset;

  static constexpr AboutTable kAbout{"memory_event", "Allocations and frees of the framework's allocator"};
  static constexpr ColumnList kColumns{
      RowKey(),
      TraceKey(),
      RankKey(),
      ShownColumn<&MemoryEventColumns::device>("", "device; NULL: host"),
      ComputedColumn<std::string_view>("device_type", "", "cpu, gpu or other"),
      ShownColumn<&MemoryEventColumns::stream>("", "stream"),
      ShownColumn<&MemoryEventColumns::action>("", "alloc, free, segment_alloc, segment_free or oom"),
      TimeColumn<&MemoryEventColumns::ts_ns>("time, in run time"),
      ShownColumn<&MemoryEventColumns::bytes>("bytes", "frees are negative"),
      ShownColumn<&MemoryEventColumns::address>("", "start of the block"),
      ShownColumn<&MemoryEventColumns::slice>("id:slice", "innermost slice open on the thread").As("slice_id"),
      ShownColumn<&MemoryEventColumns::stack>("id:stack", "where it was allocated").As("stack_id"),
      ShownColumn<&MemoryEventColumns::category>("", "what the memory holds"),
      ShownColumn<&MemoryEventColumns::total_allocated>("bytes", "allocated after the event"),
      ShownColumn<&MemoryEventColumns::total_reserved>("bytes", "reserved after the event"),
      HiddenColumn<&MemoryEventColumns::device_type>(),
      HiddenColumn<&MemoryEventColumns::pid>(),
      HiddenColumn<&MemoryEventColumns::tid>(),
      HiddenColumn<&MemoryEventColumns::thread>(),
  };
};
using MemoryEventRow = MemoryEventColumns<InRow>;
using MemoryEventStore = StoreFor<MemoryEventColumns>;
using MemoryEventTable = TableFor<MemoryEventColumns>;

}  // namespace gapless::internal
