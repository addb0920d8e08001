// SPDX-License-Identifier: Apache-2.0
// Table host_events as rules read it: events of some kinds together, in the ledger's device time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/rows/host_events.h"
#include "diagnose/bottleneck.h"
#include "diagnose/ledger_view.h"

namespace gapless::internal {

struct HostEventSum {
  int64_t calls = 0, total_ns = 0;              // over all ranks
  int64_t later_calls = 0, later_total_ns = 0;  // in steps after the first complete one
  int64_t idle_ns = 0, later_idle_ns = 0;       // summed over the devices that idled, as the ledger counts
  int64_t max_ns = 0;                           // longest
  std::vector<size_t> rows;                     // rows of the table, most time first, at most kMaxRows
};

// Events whose column `kind` is one of `kinds`.
HostEventSum SumHostEvents(const HostEventsRows& events, const LedgerView& ledger,
                           std::span<const std::string_view> kinds);

// The first `most` of the rows: "name in file:line: n calls, 1.2 ms of host time", each pointing to its
// longest slice.
std::vector<Evidence> EventEvidence(const HostEventsRows& events, std::span<const size_t> rows, size_t most = 3);

// Returns the saving if the host work behind `idle_ns` of device time goes: at least half (other host work may follow
// at once), at most all, most likely `expected_share`.
std::optional<Gain> GainOfIdle(const LedgerView& ledger, int64_t idle_ns, double expected_share, double confidence);

// Returns the finding that the device of a serving engine idles during events of `kinds`; absent: it idles less than
// kEngineShare, or the recording is of no engine. Its description is "For 12 % of the time the GPU is idle while
// <what>: 3 calls, the longest 2 ms."; the title is to be completed, and the advice is the caller's.
std::optional<Bottleneck> IdleOfEngine(Tables& tables, std::span<const std::string_view> kinds, std::string_view what);

// The first source line of the rows; "" when none was recorded.
std::string LineOf(const HostEventsRows& events, const HostEventSum& sum);

}  // namespace gapless::internal
