// SPDX-License-Identifier: Apache-2.0
// The totals of the waste ledger as rules and reports read them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyses/analysis.h"
#include "gapless/summary.h"

namespace gapless::internal {

struct LedgerView {
  std::vector<DeviceBreakdown> devices;   // one per process and device that did work, in order of trace and device
  DeviceBreakdown total;                  // sums over `devices`; trace, rank, device and name mean nothing
  int64_t step_rows = 0;                  // complete steps, counted once per device
  std::map<int64_t, int64_t> process_of;  // key of table trace -> that of the first recording of its process

  std::map<int64_t, int64_t> devices_of_process;  // number of `devices` by their trace

  // Returns the number of devices that the process of this trace used.
  int64_t DevicesOf(int64_t trace) const;
  // Returns the share of the wall time of all devices; 0 if there is no wall time.
  double Share(int64_t ns) const;
  // "74.2 ms of every step", or without steps "1.20 s of 3.40 s recorded".
  std::string CostText(int64_t ns) const;
  // "; rank 3 is worst with 22.0 %", or "" when there is one device or all have about the same share of the part.
  std::string WorstText(int64_t DeviceBreakdown::*part) const;
  // The same of any time, given for each device in order.
  std::string WorstText(const std::vector<int64_t>& ns) const;
};

// Returns the view of the run's ledger, which is made once and lives as long as the tables: most rules read it.
const LedgerView& ReadLedger(Tables& tables);

}  // namespace gapless::internal
