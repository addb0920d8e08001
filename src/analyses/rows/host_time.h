// SPDX-License-Identifier: Apache-2.0
// Table host_time, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct HostTimeRows : TypedRows<HostTimeRows> {
  static constexpr std::string_view kName = "host_time";
  static constexpr std::string_view kHelp =
      "What the host did while a device was idle and nothing was launched, by frame and line";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      kDeviceColumn,
      {"name", kText, "",
       "frame or annotation the launching thread had open; NULL: none recorded, or none but the step"},
      {"category", kText, "", "python, annotation …; NULL: none recorded"},
      {"annotation", kText, "", "innermost annotation around it that is not the step"},
      {"source_line", kText, "", "line of the user's code, when stacks were recorded"},
      {"while_launching", kInt, "", "1: in gaps whose main cause is launching; 0: in others"},
      {"parts", kInt, "", "parts of idle gaps"},
      {"parts_per_step", kReal, "", "NULL: no complete step"},
      {"idle_ns", kInt, "ns", "their length"},
      {"longest_ns", kInt, "ns", "the longest"},
      {"slice_id", kInt, "id:slice", "the frame or annotation of the longest"},
  };
};

}  // namespace gapless::internal
