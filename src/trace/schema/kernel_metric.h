// SPDX-License-Identifier: Apache-2.0
// Metrics of single kernel launches, as a kernel profiler measured them. In the order of the file: launch by launch.
#pragma once

#include "trace/column.h"
#include "trace/enums.h"
#include "trace/ids.h"

namespace gapless::internal {

struct KernelMetricTable {
  Column<StringId> kernel_name;
  Column<int64_t> launch_index;  // the profiler's own count of the launches it measured
  Column<StringId> metric;
  Column<double> value;   // NaN: it is a text
  Column<StringId> text;  // kNone: it is a number
  Column<StringId> unit;

  size_t size() const { return kernel_name.size(); }

  // Calls f(name, column) for every column, in the order of declaration.
  template <class Self, class F>
  static void Visit(Self& self, F&& f) {
    f("kernel_name", self.kernel_name);
    f("launch_index", self.launch_index);
    f("metric", self.metric);
    f("value", self.value);
    f("text", self.text);
    f("unit", self.unit);
  }
};

}  // namespace gapless::internal
