// SPDX-License-Identifier: Apache-2.0
// Allocations and frees seen by the framework's allocator. Sorted by ts_ns.
#pragma once

#include "trace/column.h"
#include "trace/enums.h"
#include "trace/ids.h"

namespace gapless::internal {

struct MemoryEventTable {
  Column<int32_t> device;       // kAbsent32: host
  Column<uint8_t> device_type;  // 0 CPU, 1 CUDA or HIP, as the framework numbers them
  Column<MemoryAction> action;
  Column<int64_t> ts_ns;
  Column<int64_t> bytes;    // signed: frees are negative
  Column<int64_t> address;  // kAbsent: none
  Column<SliceId> slice;    // innermost slice open on the thread
  Column<ThreadId> thread;
  Column<int64_t> total_allocated;  // bytes after the event; kAbsent: none
  Column<int64_t> total_reserved;

  size_t size() const { return device.size(); }

  // Calls f(name, column) for every column, in the order of declaration.
  template <class Self, class F>
  static void Visit(Self& self, F&& f) {
    f("device", self.device);
    f("device_type", self.device_type);
    f("action", self.action);
    f("ts_ns", self.ts_ns);
    f("bytes", self.bytes);
    f("address", self.address);
    f("slice", self.slice);
    f("thread", self.thread);
    f("total_allocated", self.total_allocated);
    f("total_reserved", self.total_reserved);
  }
};

}  // namespace gapless::internal
