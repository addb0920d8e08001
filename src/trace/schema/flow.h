// SPDX-License-Identifier: Apache-2.0
// Arrows between slices, as recorded. Both ends are there.
#pragma once

#include "trace/column.h"
#include "trace/enums.h"
#include "trace/ids.h"

namespace gapless::internal {

struct FlowTable {
  Column<FlowKind> kind;
  Column<int64_t> from_ts_ns;
  Column<int64_t> from_tid;  // thread, or stream on the device side
  Column<int64_t> to_ts_ns;
  Column<int64_t> to_tid;

  size_t size() const { return kind.size(); }

  // Calls f(name, column) for every column, in the order of declaration.
  template <class Self, class F>
  static void Visit(Self& self, F&& f) {
    f("kind", self.kind);
    f("from_ts_ns", self.from_ts_ns);
    f("from_tid", self.from_tid);
    f("to_ts_ns", self.to_ts_ns);
    f("to_tid", self.to_tid);
  }
};

}  // namespace gapless::internal
