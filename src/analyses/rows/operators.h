// SPDX-License-Identifier: Apache-2.0
// Table operators, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct OperatorsRows : TypedRows<OperatorsRows> {
  static constexpr std::string_view kName = "operators";
  static constexpr std::string_view kHelp =
      "Operators by name: calls, host and device time, of their own and with children";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"name", kText, "", "name of the operator"},
      {"class", kText, "", "what its own device work is, by time; NULL: it launches none itself"},
      {"calls", kInt, "", "how often it was called"},
      {"host_self_ns", kInt, "ns", "host time without what it calls"},
      {"host_total_ns", kInt, "ns", "host time"},
      {"device_self_ns", kInt, "ns", "time of the device work it launched itself"},
      {"device_total_ns", kInt, "ns", "time of the device work launched while it was open"},
      {"gpu_ops", kInt, "", "device operations it launched itself"},
      {"share", kReal, "share", "device_self_ns of all device work of the trace"},
      {"slice_id", kInt, "id:slice", "its longest call"},
      {"source_line", kText, "", "line of the user's code around that call; NULL: no stack was recorded"},
  };
};

}  // namespace gapless::internal
