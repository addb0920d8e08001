// SPDX-License-Identifier: Apache-2.0
// The parts of communication that no computation hides: how much overlaps, who waits for whom, and how much more
// computation could hide.
#pragma once

#include <cstdint>
#include <vector>

#include "analyses/rows/communication.h"
#include "analyses/rows/ranks.h"
#include "diagnose/bottleneck.h"
#include "diagnose/ledger_view.h"
#include "diagnose/thresholds.h"

namespace gapless::internal::exposed_communication_rule {

// Communication of all devices.
struct Overlap {
  int64_t total_ns = 0, exposed_ns = 0;
  int64_t hidden_ns() const { return total_ns - exposed_ns; }
};
Overlap OverlapOf(const CommunicationRows& communication);

// The devices with the least and the most exposed communication; null without two devices.
struct Ranks {
  const DeviceBreakdown *least = nullptr, *most = nullptr;  // exposed communication
  bool uneven() const {
    return least != nullptr && least != most && least->rank && most->rank &&
           static_cast<double>(most->exposed_comm_ns) > kImbalance * static_cast<double>(least->exposed_comm_ns);
  }
};
Ranks CompareRanks(const LedgerView& ledger);

// The exposed time, split into waiting and transfer by collectives that were matched over the ranks.
struct Waiting {
  int64_t ns = 0;                        // waiting for other ranks
  int64_t opening_ns = 0;                // the same up to the first collective that all recorded: their recorders start
  int64_t slow_rank = kAbsent;           // the one that causes at least half of the waiting
  bool known = false;                    // there was something to compare
  std::vector<int64_t> without_opening;  // exposed time by device, as in the ledger
};
Waiting WaitingOf(const RanksRows& ranks, const LedgerView& ledger);

// The most that better overlap can hide: the computation of each device that runs alone.
struct Hideable {
  int64_t alone_ns = 0;    // computation beside which nothing is sent
  double expected_ns = 0;  // half of the stake, no more than that
  bool bounded = false;    // there is less computation than half of the stake
};
Hideable HideableOf(const CommunicationRows& communication, const LedgerView& ledger, const Waiting& waiting);

// Returns the evidence: the share `hidden` that overlaps, waiting, kinds of collectives, and uneven ranks.
std::vector<Evidence> EvidenceOf(const CommunicationRows& communication, const LedgerView& ledger, double hidden,
                                 const Ranks& ranks, const Waiting& waiting);
Evidence EvidenceOf(const Hideable& hideable, const LedgerView& ledger);

}  // namespace gapless::internal::exposed_communication_rule
