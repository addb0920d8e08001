// SPDX-License-Identifier: Apache-2.0
// User ranges projected onto a stream by the recorder. Sorted by ts_ns.
#pragma once

#include "trace/column.h"
#include "trace/enums.h"
#include "trace/ids.h"

namespace gapless::internal {

struct GpuAnnotationTable {
  Column<StringId> name;
  Column<int32_t> device;
  Column<int64_t> stream;
  Column<int64_t> ts_ns;
  Column<int64_t> dur_ns;

  size_t size() const { return name.size(); }

  // Calls f(name, column) for every column, in the order of declaration.
  template <class Self, class F>
  static void Visit(Self& self, F&& f) {
    f("name", self.name);
    f("device", self.device);
    f("stream", self.stream);
    f("ts_ns", self.ts_ns);
    f("dur_ns", self.dur_ns);
  }
};

}  // namespace gapless::internal
