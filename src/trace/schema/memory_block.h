// SPDX-License-Identifier: Apache-2.0
// Blocks of device memory, from snapshots of an allocator: each allocation that was recorded with its lifetime, and the
// blocks that were there when the snapshot was taken. In the order of the file.
#pragma once

#include "trace/columns.h"

namespace gapless::internal {

template <template <class> class Of>
struct MemoryBlockColumns {
  Of<int32_t> device = kRequired<Of>;
  Of<int64_t> address = kRequired<Of>;
  Of<int64_t> bytes = kRequired<Of>;
  Of<int64_t> alloc_ts_ns = kUnset;  // absent: before the recording
  Of<int64_t> free_ts_ns = kUnset;   // absent: not freed
  Of<StringId> state = kRequired<Of>;
  Of<StackId> stack = kUnset;
  Of<StringId> category = kUnset;
  Of<int64_t> segment = kUnset;
  Of<int64_t> requested_bytes = kUnset;

  static constexpr AboutTable kAbout{"memory_block",
                                     "Blocks of device memory with their lifetimes, from memory snapshots"};
  static constexpr ColumnList kColumns{
      TraceKey(),
      RankKey(),
      ShownColumn<&MemoryBlockColumns::device>("", "device"),
      ShownColumn<&MemoryBlockColumns::address>("", "start of the block"),
      ShownColumn<&MemoryBlockColumns::bytes>("bytes", "size"),
      TimeColumn<&MemoryBlockColumns::alloc_ts_ns>("when it was allocated; NULL: before the recording"),
      TimeColumn<&MemoryBlockColumns::free_ts_ns>("when it was freed; NULL: it was not"),
      ShownColumn<&MemoryBlockColumns::state>(
          "", "active_allocated, active_pending_free, inactive (held unused), or freed"),
      ShownColumn<&MemoryBlockColumns::stack>("id:stack", "where it was allocated").As("stack_id"),
      ShownColumn<&MemoryBlockColumns::category>("", "what it holds, as its stack shows"),
      ShownColumn<&MemoryBlockColumns::segment>("", "start of the segment that it lies in; NULL: not in the snapshot"),
      ShownColumn<&MemoryBlockColumns::requested_bytes>("bytes", "what was asked for; the allocator rounds up"),
  };
};
using MemoryBlockRow = MemoryBlockColumns<InTextView>;
using MemoryBlockTable = TableFor<MemoryBlockColumns>;

}  // namespace gapless::internal
