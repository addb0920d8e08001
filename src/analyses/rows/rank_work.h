// SPDX-License-Identifier: Apache-2.0
// Table rank_work, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct RankWorkRows : TypedRows<RankWorkRows> {
  static constexpr std::string_view kName = "rank_work";
  static constexpr std::string_view kHelp = "Own work of each device in its complete steps, and idle time by cause";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      kDeviceColumn,
      {"compute_ns", kInt, "ns", "time in which kernels run that are not communication"},
      {"copies_ns", kInt, "ns", "time in which only copies run"},
      {"kernels", kInt, "", "kernels, without communication"},
      {"kernel_ns", kInt, "ns", "sum of their durations"},
      {"idle_data_ns", kInt, "ns", "idle while the host waits for the next batch"},
      {"idle_launch_ns", kInt, "ns", "idle while the host issues work"},
      {"idle_sync_ns", kInt, "ns", "idle while the host is in a call that blocks"},
      {"idle_host_ns", kInt, "ns", "idle while the host does something else"},
      {"idle_unknown_ns", kInt, "ns", "idle for a reason that was not recorded"},
  };
};

}  // namespace gapless::internal
