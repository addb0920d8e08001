// SPDX-License-Identifier: Apache-2.0
// Table os_waits, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct OsWaitsRows : TypedRows<OsWaitsRows> {
  static constexpr std::string_view kName = "os_waits";
  static constexpr std::string_view kHelp =
      "Idle time of devices by the system call in which the launching thread was meanwhile";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      kDeviceColumn,
      {"step", kInt, "", "step in whose window the idle intervals begin; NULL: none"},
      {"tid", kInt, "", "thread that launched the operation which ended them"},
      {"call", kText, "", "function of the system's library; NULL: none, and the thread was on no processor"},
      {"parts", kInt, "", "stretches of idle time"},
      {"idle_ns", kInt, "ns", "their length"},
      {"longest_ns", kInt, "ns", "the longest of them"},
      {"host_ns", kInt, "ns", "of idle_ns: laid to the host, which did something else than launching or waiting"},
      {"off_cpu_ns", kInt, "ns", "of idle_ns: the thread was on no processor; NULL: scheduling was not recorded"},
      {"host_off_cpu_ns", kInt, "ns", "of host_ns: the thread was on no processor; NULL: scheduling was not recorded"},
  };
};

}  // namespace gapless::internal
