// SPDX-License-Identifier: Apache-2.0
// The totals of the waste ledger as rules and reports read them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyses/analysis.h"
#include "trace/ids.h"

namespace gapless::internal {

// The waste ledger of one device: compute, exposed_comm, exposed_copy and idle add up to wall, the idle parts to idle.
struct DeviceBreakdown {
  int64_t trace = 0;       // key of table `trace`
  int64_t rank = kAbsent;  // kAbsent: none recorded
  int32_t device = 0;
  std::string device_name{};  // "Tesla V100-SXM2-32GB"; empty: not recorded
  int64_t wall_ns = 0;
  int64_t compute_ns = 0, exposed_comm_ns = 0, exposed_copy_ns = 0, idle_ns = 0;
  int64_t idle_data_ns = 0, idle_launch_ns = 0, idle_sync_ns = 0, idle_host_ns = 0, idle_unknown_ns = 0;
};

struct LedgerView {
  std::vector<DeviceBreakdown> devices;  // one per device that did work, in order of trace and device
  DeviceBreakdown total;                 // sums over `devices`; trace, rank, device and name mean nothing
  int64_t step_rows = 0;                 // complete steps, counted once per device

  // How many devices of this trace did work.
  int64_t DevicesOf(int64_t trace) const;
  // Of the wall time of all devices; 0 when there is none.
  double Share(int64_t ns) const;
  // "74.2 ms of every step", or without steps "1.20 s of 3.40 s recorded".
  std::string CostText(int64_t ns) const;
  // "; rank 3 is worst with 22.0 %", or "" when there is one device or all have about the same share of the part.
  std::string WorstText(int64_t DeviceBreakdown::*part) const;
  // The same of any time, given for each device in order.
  std::string WorstText(const std::vector<int64_t>& ns) const;
};

LedgerView ReadLedger(Tables& tables);

}  // namespace gapless::internal
