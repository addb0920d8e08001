// SPDX-License-Identifier: Apache-2.0
// Table python_functions, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct PythonFunctionsRows : TypedRows<PythonFunctionsRows> {
  static constexpr std::string_view kName = "python_functions";
  static constexpr std::string_view kHelp = "Functions by time over the whole run, from gapless profile --python";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"kind", kText, "", "how it was measured: sample, cprofile or scalene"},
      {"function", kText, "", "name of the function"},
      {"file", kText, "", "its file; NULL: built in"},
      {"line", kInt, "", "where it begins; NULL: built in"},
      {"is_users", kInt, "", "1: in the user's code; 0: in a library, or built in"},
      {"calls", kInt, "", "NULL: not counted"},
      {"self_ns", kInt, "ns", "time in the function itself"},
      {"total_ns", kInt, "ns", "time in the function and what it calls"},
  };
};

}  // namespace gapless::internal
