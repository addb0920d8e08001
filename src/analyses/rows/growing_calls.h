// SPDX-License-Identifier: Apache-2.0
// Table growing_calls, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct GrowingCallsRows : TypedRows<GrowingCallsRows> {
  static constexpr std::string_view kName = "growing_calls";
  static constexpr std::string_view kHelp =
      "Functions and operators that are called more often from recorded step to step";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"kind", kText, "", "function: of the user's code; operator"},
      {"name", kText, "", "frame of the function, or the operator"},
      {"source_line", kText, "", "line of the user's code that calls it; NULL: not recorded"},
      {"steps", kInt, "",
       "recorded complete steps, of all recordings of the process; none calls it less often than the one before, and "
       "half of them or more call it more often"},
      {"first_calls", kInt, "", "calls in the first of them"},
      {"last_calls", kInt, "", "calls in the last of them"},
      {"first_step", kInt, "", "number of the first of them"},
      {"last_step", kInt, "", "number of the last of them"},
  };
};

}  // namespace gapless::internal
