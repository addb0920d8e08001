// SPDX-License-Identifier: Apache-2.0
// Synchronisations: host calls that wait for the GPU, and streams that wait for events. Sorted by ts_ns. A wait that
// both the host call and the recorder's synchronisation row describe is one row.
#pragma once

#include "trace/column.h"
#include "trace/enums.h"
#include "trace/ids.h"

namespace gapless::internal {

struct SyncTable {
  Column<SyncKind> kind;
  Column<SliceId> slice;          // the host call; kNoRow: not recorded
  Column<int32_t> device;         // kAbsent32: not recorded
  Column<int64_t> stream;         // the stream waited for or waiting; kAbsent: none
  Column<GpuOpId> waited_gpu_op;  // the operation whose end ended the wait
  Column<int64_t> event;          // kAbsent: none
  Column<int64_t> ts_ns;
  Column<int64_t> dur_ns;
  Column<int64_t> wait_ns;  // time the host thread (stream_wait: the stream) was held up

  size_t size() const { return kind.size(); }

  // Calls f(name, column) for every column, in the order of declaration.
  template <class Self, class F>
  static void Visit(Self& self, F&& f) {
    f("kind", self.kind);
    f("slice", self.slice);
    f("device", self.device);
    f("stream", self.stream);
    f("waited_gpu_op", self.waited_gpu_op);
    f("event", self.event);
    f("ts_ns", self.ts_ns);
    f("dur_ns", self.dur_ns);
    f("wait_ns", self.wait_ns);
  }
};

}  // namespace gapless::internal
