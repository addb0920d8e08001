// SPDX-License-Identifier: Apache-2.0
// Table launch_waits, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct LaunchWaitsRows : TypedRows<LaunchWaitsRows> {
  static constexpr std::string_view kName = "launch_waits";
  static constexpr std::string_view kHelp =
      "Idle time while the host launches, by operator and line; captures and the longest call apart";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      kDeviceColumn,
      {"kind", kText, "",
       "operator: inside one, or a call; between: Python between two, in gaps whose main cause is launching; capture: "
       "either, while the thread captures a graph"},
      {"operator", kText, "", "the outermost operator; of calls without one: the call; NULL: other kinds"},
      {"source_line", kText, "", "line of the user's code, when stacks were recorded"},
      {"parts", kInt, "", "parts of idle gaps"},
      {"idle_ns", kInt, "ns", "their length"},
      {"call", kText, "", "call or operator that by itself took half of the longest part or more; NULL: none"},
      {"call_ns", kInt, "ns", "how much of that part; NULL: none"},
      {"slice_id", kInt, "id:slice", "the call, or what was open in the longest part"},
  };
};

}  // namespace gapless::internal
