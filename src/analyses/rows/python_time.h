// SPDX-License-Identifier: Apache-2.0
// Table python_time, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct PythonTimeRows : TypedRows<PythonTimeRows> {
  static constexpr std::string_view kName = "python_time";
  static constexpr std::string_view kHelp =
      "Python between operators, by function of the user's code and what it calls";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"function", kText, "", "innermost function of the user's code: function() (file); NULL: none is open"},
      {"callee", kText, "", "innermost function of a library, or built-in one, that runs in it; NULL: its own code"},
      {"source_line", kText, "", "line of the user's code that calls; NULL: not known"},
      {"calls", kInt, "", "calls of the callee, else of the function"},
      {"self_ns", kInt, "ns", "time in complete steps, without operators and what host_steps lists by itself"},
      {"on_device", kInt, "", "1: the process used a device"},
  };
};

}  // namespace gapless::internal
