// SPDX-License-Identifier: Apache-2.0
// Places where the host waits for the device: the rows of analysis `syncs` by call and place, over all ranks, as the
// rules about explicit and implicit synchronisation read them.
//
// A wait is explicit when no operator is around the call: the program asked for it (torch.cuda.synchronize,
// event.synchronize). It is implicit when an operator waits: .item(), nonzero, a copy to the host, `if tensor:`.
// Waits of streams for events hold up no thread and are left out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyses/rows/syncs.h"
#include "diagnose/bottleneck.h"
#include "diagnose/ledger_view.h"
#include "trace/table.h"

namespace gapless::internal {

// The waits of one call at one place, over all ranks.
struct SyncPlace {
  std::string kind, call, op, line;
  int64_t calls = 0, wait_ns = 0, idle_ns = 0;  // idle_ns: `avoidable_ns` over all devices
  double calls_per_step = 0;                    // calls per step on the rank with the most; 0: no steps
  std::vector<int64_t> ids;                     // rows of `sync`: the longest on each rank

  bool is_explicit() const { return op.empty(); }
  std::string Name() const;  // "aten::item (cudaStreamSynchronize)"
};

struct SyncPlaces {
  std::vector<SyncPlace> places;   // those that idle the devices most first; of equals, those that wait longer
  int64_t idle_ns = 0;             // after all of them
  std::vector<int64_t> by_device;  // the same, of each device of the ledger
};

enum class Waits : uint8_t { kExplicit, kImplicit };

SyncPlaces CollectSyncPlaces(const SyncsRows& syncs, const LedgerView& ledger, Waits which);

// The share of the time that not waiting, of either kind, would save at most.
double SyncShare(const SyncsRows& syncs, const LedgerView& ledger);

// "aten::item (cudaStreamSynchronize) in train.py:77: 1.0 times a step, 310 µs each; not waiting would save up to 0.2
// ms of every step"
Evidence EvidenceOf(const SyncPlace& place, const LedgerView& ledger);

}  // namespace gapless::internal
