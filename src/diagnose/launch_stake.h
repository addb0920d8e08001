// SPDX-License-Identifier: Apache-2.0
// Idle time that faster launching could save, for every rule that blames the host's launching.
#pragma once

#include <cstdint>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/rows/launch_waits.h"
#include "analyses/rows/launches.h"
#include "analyses/rows/warm_up.h"
#include "diagnose/ledger_view.h"

namespace gapless::internal {

// Idle time while the host launches: rows of launch_waits but for captures, less the calls left out. One call that
// alone takes more than half of a recording's stake is warm-up: code is loaded and the allocator started.
struct LaunchStake {
  int64_t ns = 0, captured_ns = 0, one_off_ns = 0;
  std::vector<size_t> one_offs;  // rows whose `call` is left out, at most one of each recording
  int64_t start_ns = 0;          // first calls, loading and compiling (table warm_up) that are not in one_off_ns
};

LaunchStake CollectLaunchStake(const LaunchWaitsRows& waits, const LaunchesRows& launches, const WarmUpRows& warm_up,
                               const LedgerView& ledger);

// Returns the idle time of a row of launch_waits without captures and without a call left out.
int64_t WithoutOneOff(const LaunchWaitsRows& waits, const LaunchStake& stake, size_t row);

}  // namespace gapless::internal
