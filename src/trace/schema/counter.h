// SPDX-License-Identifier: Apache-2.0
// Values over time. Sorted by ts_ns.
#pragma once

#include "trace/column.h"
#include "trace/enums.h"
#include "trace/ids.h"

namespace gapless::internal {

struct CounterTable {
  Column<StringId> name;
  Column<int32_t> device;  // kAbsent32: none
  Column<int64_t> ts_ns;
  Column<double> value;
  Column<StringId> unit;

  size_t size() const { return name.size(); }

  // Calls f(name, column) for every column, in the order of declaration.
  template <class Self, class F>
  static void Visit(Self& self, F&& f) {
    f("name", self.name);
    f("device", self.device);
    f("ts_ns", self.ts_ns);
    f("value", self.value);
    f("unit", self.unit);
  }
};

}  // namespace gapless::internal
