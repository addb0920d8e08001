// SPDX-License-Identifier: Apache-2.0
// Table recorded, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct RecordedRows : TypedRows<RecordedRows> {
  static constexpr std::string_view kName = "recorded";
  static constexpr std::string_view kHelp = "How much each recording holds, and whether it is one of a start";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"devices", kInt, "", "devices that worked"},
      {"events", kInt, "", "host slices and GPU operations"},
      {"gpu_operations", kInt, "", "GPU operations"},
      {"busy_ns", kInt, "ns", "time in which any device works"},
      {"recorded_ns", kInt, "ns", "length of the recording"},
      {"window_ns", kInt, "ns", "length of the analysed window"},
      {"one_off_idle_ns", kInt, "ns", "time of the window in which the devices idle beside one-offs (warm_up)"},
      {"cold_start", kInt, "", "1: that is half of the window or more"},
      {"only_starts", kInt, "", "1: the devices hardly work, on operations of which few come again"},
      {"launches", kInt, "", "launches and copies that the host called"},
      {"launches_done", kInt, "", "of them, those with a GPU operation"},
      {"device_operator", kText, "", "an operator that ran and only exists for a GPU; NULL: none did"},
  };
};

}  // namespace gapless::internal
