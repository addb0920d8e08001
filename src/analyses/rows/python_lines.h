// SPDX-License-Identifier: Apache-2.0
// Table python_lines, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct PythonLinesRows : TypedRows<PythonLinesRows> {
  static constexpr std::string_view kName = "python_lines";
  static constexpr std::string_view kHelp =
      "Lines of Python by time or memory, from gapless profile --python or profilers of lines";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"kind", kText, "", "how they were seen: lines, scalene (time), tracemalloc, memray, memory_profiler (memory)"},
      {"file", kText, "", "file of the line"},
      {"line", kInt, "", "its number"},
      {"is_users", kInt, "", "1: in the user's code; 0: in a library, or built in"},
      {"calls", kInt, "", "how often it ran; NULL: not counted"},
      {"self_ns", kInt, "ns", "time in the line, calls included; NULL: memory was profiled"},
      {"bytes", kInt, "bytes",
       "allocated there, alive at the end (memray: at the peak or in all); NULL: time was profiled"},
  };
};

}  // namespace gapless::internal
