// SPDX-License-Identifier: Apache-2.0
// Host threads. Pids and tids that were no numbers get negative stand-ins and keep their text as name.
#pragma once

#include "trace/column.h"
#include "trace/enums.h"
#include "trace/ids.h"

namespace gapless::internal {

struct ThreadTable {
  Column<int64_t> pid;
  Column<int64_t> tid;
  Column<StringId> name;
  Column<StringId> process_name;

  size_t size() const { return pid.size(); }

  // Calls f(name, column) for every column, in the order of declaration.
  template <class Self, class F>
  static void Visit(Self& self, F&& f) {
    f("pid", self.pid);
    f("tid", self.tid);
    f("name", self.name);
    f("process_name", self.process_name);
  }
};

}  // namespace gapless::internal
