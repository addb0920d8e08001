// SPDX-License-Identifier: Apache-2.0
// Takes the exposed time of communication apart, and words what it consists of.
#include "diagnose/rules/exposed_communication/exposure.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/strings.h"
#include "diagnose/evidence.h"

namespace gapless::internal::exposed_communication_rule {

namespace {

// Kinds of collectives by exposed time, over all ranks.
std::vector<Evidence> ByKind(const CommunicationRows& communication, const LedgerView& ledger) {
  std::vector<Evidence> all;
  for (const size_t row : LargestRows(communication, "exposed_ns", kMaxRows)) {
    if (communication.IsNull(row, "kind")) continue;
    const std::string kind(communication.Text(row, "kind"));
    const auto same = [&](const Evidence& evidence) { return evidence.text.starts_with(StrCat(kind, ":")); };
    if (std::any_of(all.begin(), all.end(), same)) continue;
    int64_t exposed = 0, calls = 0;
    std::vector<int64_t> longest;
    for (size_t other = 0; other < communication.rows(); ++other) {
      if (communication.Text(other, "kind") != kind) continue;
      exposed += communication.Int(other, "exposed_ns"), calls += communication.Int(other, "calls");
      if (longest.size() < kMaxRows && !communication.IsNull(other, "gpu_op_id"))
        longest.push_back(communication.Int(other, "gpu_op_id"));
    }
    all.push_back({.text = StrCat(kind, ": ", FormatCounted(calls, "call"), " in the recording, not hidden for ",
                                  ledger.CostText(exposed)),
                   .value = static_cast<double>(exposed),
                   .unit = "ns",
                   .table = "gpu_op",
                   .rows = std::move(longest)});
  }
  return all;
}

}  // namespace

Overlap OverlapOf(const CommunicationRows& communication) {
  Overlap overlap;
  for (size_t row = 0; row < communication.rows(); ++row) {
    if (!communication.IsNull(row, "kind") || communication.IsNull(row, "exposed_ns")) continue;
    overlap.total_ns += communication.Int(row, "total_ns");
    overlap.exposed_ns += communication.Int(row, "exposed_ns");
  }
  return overlap;
}

Ranks CompareRanks(const LedgerView& ledger) {
  if (ledger.devices.size() < 2) return {};
  const auto [least, most] =
      std::minmax_element(ledger.devices.begin(), ledger.devices.end(),
                          [](const auto& a, const auto& b) { return a.exposed_comm_ns < b.exposed_comm_ns; });
  return {&*least, &*most};
}

Waiting WaitingOf(const RanksRows& ranks, const LedgerView& ledger) {
  Waiting waiting;
  int64_t most = 0, caused = 0, compared = 0;
  std::map<std::pair<int64_t, int64_t>, int64_t> opening;  // by trace and device
  for (size_t row = 0; row < ranks.rows(); ++row) {
    const int64_t mine = ranks.Int(row, "caused_wait_ns");
    waiting.ns += ranks.Int(row, "waiting_ns"), compared += ranks.Int(row, "compared"), caused += mine;
    opening[{ranks.Int(row, "trace"), ranks.Int(row, "device")}] = ranks.Int(row, "opening_waiting_ns");
    if (mine > most && !ranks.IsNull(row, "rank")) most = mine, waiting.slow_rank = ranks.Int(row, "rank");
  }
  waiting.known = compared > 0;
  if (static_cast<double>(most) < kOneStragglerShare * static_cast<double>(caused)) waiting.slow_rank = kAbsent;
  for (const DeviceBreakdown& device : ledger.devices) {
    const int64_t start = waiting.known ? opening[{device.trace, device.device}] : 0;
    waiting.opening_ns += start;
    waiting.without_opening.push_back(device.exposed_comm_ns - start);
  }
  return waiting;
}

Hideable HideableOf(const CommunicationRows& communication, const LedgerView& ledger, const Waiting& waiting) {
  Hideable all;
  const RowsByTrace by_trace(communication);
  for (size_t i = 0; i < ledger.devices.size(); ++i) {
    const DeviceBreakdown& device = ledger.devices[i];
    int64_t alone = device.compute_ns;
    for (const size_t row : by_trace.Of(device.trace))
      if (communication.IsNull(row, "kind") && !communication.IsNull(row, "exposed_ns") &&
          communication.Int(row, "device") == device.device)
        alone -= communication.Int(row, "total_ns") - communication.Int(row, "exposed_ns");
    const double half = 0.5 * static_cast<double>(waiting.without_opening[i]);
    all.alone_ns += alone;
    all.expected_ns += std::min(half, static_cast<double>(std::max<int64_t>(alone, 0)));
    all.bounded |= static_cast<double>(alone) < half;
  }
  return all;
}

std::vector<Evidence> EvidenceOf(const CommunicationRows& communication, const LedgerView& ledger, double hidden,
                                 const Ranks& ranks, const Waiting& waiting) {
  const std::string overlap = StrCat(FormatPercent(hidden), " of communication time overlaps computation");
  std::vector<Evidence> all{{.text = overlap, .value = hidden, .unit = "share", .table = "communication"}};
  if (waiting.ns > 0)
    all.push_back({.text = StrCat("waiting for other ranks: ", ledger.CostText(waiting.ns), "; the rest is transfer"),
                   .value = static_cast<double>(waiting.ns),
                   .unit = "ns",
                   .table = "ranks"});
  if (waiting.opening_ns > 0)
    all.push_back(
        {.text =
             StrCat("not counted: ", ledger.CostText(waiting.opening_ns),
                    " of waiting before the first collective that all ranks recorded: recorders do not start at once"),
         .value = static_cast<double>(waiting.opening_ns),
         .unit = "ns",
         .table = "ranks"});
  for (Evidence& evidence : ByKind(communication, ledger)) {
    if (waiting.opening_ns > 0) evidence.text += ", including waiting while the recorders start";
    all.push_back(std::move(evidence));
  }
  if (waiting.known || !ranks.uneven()) return all;
  const std::string uneven = StrCat("communication that nothing hides, on rank ", *ranks.most->rank, ": ",
                                    FormatDuration(ranks.most->exposed_comm_ns), ", on rank ", *ranks.least->rank, ": ",
                                    FormatDuration(ranks.least->exposed_comm_ns), ", over the recording");
  all.push_back({.text = uneven, .table = "ledger"});
  return all;
}

Evidence EvidenceOf(const Hideable& hideable, const LedgerView& ledger) {
  return {.text = StrCat("computation that could hide communication: ", ledger.CostText(hideable.alone_ns),
                         "; overlap removes no more than that"),
          .value = static_cast<double>(hideable.alone_ns),
          .unit = "ns",
          .table = "ledger"};
}

}  // namespace gapless::internal::exposed_communication_rule
