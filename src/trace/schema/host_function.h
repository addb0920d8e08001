// SPDX-License-Identifier: Apache-2.0
// Functions and lines of the host program, as a host profiler summed them up. Most own time first, as in the file.
#pragma once

#include "trace/column.h"
#include "trace/enums.h"
#include "trace/ids.h"

namespace gapless::internal {

struct HostFunctionTable {
  Column<StringId> file;
  Column<int64_t> line;       // where the function begins; of a row about one line, that line
  Column<StringId> function;  // kNone: the row is about one line
  Column<int64_t> calls;      // number of times that a line ran; kAbsent: not counted
  Column<int64_t> self_ns;    // kAbsent: not measured
  Column<int64_t> total_ns;   // kAbsent: not measured
  Column<int64_t> bytes;      // allocated there and alive at the end; kAbsent: not measured

  size_t size() const { return file.size(); }

  // Calls f(name, column) for every column, in the order of declaration.
  template <class Self, class F>
  static void Visit(Self& self, F&& f) {
    f("file", self.file);
    f("line", self.line);
    f("function", self.function);
    f("calls", self.calls);
    f("self_ns", self.self_ns);
    f("total_ns", self.total_ns);
    f("bytes", self.bytes);
  }
};

}  // namespace gapless::internal
