// SPDX-License-Identifier: Apache-2.0
// Table ledger, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct LedgerRows : TypedRows<LedgerRows> {
  static constexpr std::string_view kName = "ledger";
  static constexpr std::string_view kHelp =
      "Where each device's time went: compute, exposed communication and copies, idle by cause";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      kDeviceColumn,
      {"step", kInt, "", "step number; NULL: the whole analysed window, time between steps included"},
      {"wall_ns", kInt, "ns", "length of the step's window, or of the whole"},
      {"compute_ns", kInt, "ns", "some kernel that is not communication runs"},
      {"exposed_comm_ns", kInt, "ns", "communication kernels run and nothing computes"},
      {"exposed_copy_ns", kInt, "ns", "only copies or fills run"},
      {"idle_ns", kInt, "ns", "nothing runs on any stream"},
      {"idle_data_ns", kInt, "ns", "idle while the host waits for the next batch"},
      {"idle_launch_ns", kInt, "ns", "idle while the host issues work, or while the device starts it"},
      {"idle_sync_ns", kInt, "ns", "idle while the host is in a call that blocks"},
      {"idle_host_ns", kInt, "ns", "idle while the host does something else: Python code, or nothing recorded"},
      {"idle_unknown_ns", kInt, "ns", "idle for a reason that was not recorded"},
  };
};

}  // namespace gapless::internal
