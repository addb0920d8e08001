// SPDX-License-Identifier: Apache-2.0
// Evidence from the operating system for time in which the host kept the device waiting.
#pragma once

#include <vector>

#include "analyses/rows/os_waits.h"
#include "diagnose/bottleneck.h"
#include "diagnose/ledger_view.h"

namespace gapless::internal {

// The call of the system's library in which the launching thread spent most of the idle time that is laid to the host,
// and the time in which it was on no processor; each if it is a fifth of `stake_ns` at least.
std::vector<Evidence> OsWaitEvidence(const OsWaitsRows& waits, int64_t stake_ns, const LedgerView& ledger);

}  // namespace gapless::internal
