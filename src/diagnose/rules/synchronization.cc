// SPDX-License-Identifier: Apache-2.0
// The host waits for the device, and then the device waits for the host.
//
// A wait costs little while the device works; it costs when it is over: nothing is queued, and the device idles until
// the host has launched again. At stake are the idle gaps that began during a wait, data loading aside (analysis
// syncs), and those in which a copy call blocks or stages pageable memory. Calls that allocate or free memory block
// too, but are no waits: they are left to the ledger. The gain: without the wait the host runs ahead and the whole gap
// can go (high), as far as the host is fast enough; what it spends launching stays when it is not. We expect half and
// at least a quarter.
#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <tuple>

#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "diagnose/thresholds.h"

namespace gapless {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "idle", "syncs"};

// The waits of one call at one place, over all ranks.
struct Waits {
  std::string kind, call, op, line;
  int64_t calls = 0, wait_ns = 0, idle_ns = 0;  // idle_ns: over all devices, as the ledger's totals are
  double calls_per_step = 0;                    // of the rank with the most; 0: no steps
  std::vector<int64_t> ids;                     // of the longest on each rank
};

std::string NameOf(const Waits& waits) {
  return waits.op.empty() ? waits.call : StrCat(waits.op, " (", waits.call, ")");
}

// Those that idle the devices most first; of equals, those that wait longer. Waits of streams for events are not the
// host's.
std::vector<Waits> CollectWaits(const Table& syncs, const LedgerView& ledger) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, Waits> by_place;
  for (size_t row = 0; row < syncs.rows(); ++row) {
    const std::string kind = TextOr(syncs, row, "kind", ""), call = TextOr(syncs, row, "call", "a wait");
    if (kind == "stream_wait") continue;
    const std::string op = TextOr(syncs, row, "operator", ""), line = TextOr(syncs, row, "source_line", "");
    Waits& waits = by_place[{kind, call, op, line}];
    waits.kind = kind, waits.call = call, waits.op = op, waits.line = line;
    waits.calls += syncs.Int(row, "calls");
    waits.wait_ns += syncs.Int(row, "wait_ns");
    waits.idle_ns += syncs.Int(row, "idle_after_ns") * ledger.DevicesOf(syncs.Int(row, "trace"));
    if (!syncs.IsNull(row, "calls_per_step"))
      waits.calls_per_step = std::max(waits.calls_per_step, syncs.Real(row, "calls_per_step"));
    if (waits.ids.size() < kMostRows) waits.ids.push_back(syncs.Int(row, "sync_id"));
  }
  std::vector<Waits> sorted;
  for (auto& [place, waits] : by_place) sorted.push_back(std::move(waits));
  std::stable_sort(sorted.begin(), sorted.end(), [](const Waits& a, const Waits& b) {
    return a.idle_ns != b.idle_ns ? a.idle_ns > b.idle_ns : a.wait_ns > b.wait_ns;
  });
  return sorted;
}

Evidence EvidenceOf(const Waits& waits, const LedgerView& ledger) {
  const std::string often = waits.calls_per_step > 0 ? StrCat(FormatNumber(waits.calls_per_step, 1), " times a step")
                                                     : StrCat(waits.calls, " times");
  return {StrCat(NameOf(waits), InLine(waits.line), ": ", often, ", ", FormatDuration(waits.wait_ns / waits.calls),
                 " each; idle after it ", ledger.CostText(waits.idle_ns)),
          static_cast<double>(waits.idle_ns),
          "ns",
          "sync",
          waits.ids,
          waits.line};
}

bool IsCopy(std::string_view operator_name) {
  return operator_name == "aten::to" || operator_name == "aten::cuda" ||
         operator_name.find("copy_") != operator_name.npos || operator_name.find("_to_copy") != operator_name.npos;
}

Recommendation AdviceFor(const Waits& waits) {
  const std::string line = InLine(waits.line);
  const auto is = [&](std::string_view part) { return waits.op.find(part) != waits.op.npos; };
  if (is("item") || is("_local_scalar_dense") || is("is_nonzero"))
    return {StrCat("read the value every N steps, or keep it on the device: ", waits.op,
                   " waits for all work queued before it", line),
            "sync", "if step % 100 == 0: log(loss.item())", "minutes"};
  if (is("nonzero") || is("index") || is("masked") || is("unique"))
    return {StrCat("avoid shapes that depend on values: ", waits.op, " must know the result's size", line), "sync",
            "torch.where(mask, x, 0)", "hours"};
  if (IsCopy(waits.op) || waits.kind == "implicit")
    return {StrCat("copy without waiting: pinned memory and non_blocking=True, results to the host all at once", line),
            "pin", "batch = batch.pin_memory().to(device, non_blocking=True)", "minutes"};
  if (waits.kind == "device")
    return {StrCat("take torch.cuda.synchronize() out of the training loop", line), "sync", "", "minutes"};
  return {StrCat("do not wait for the device each step: ", NameOf(waits), line), "sync", "", "hours"};
}

// The same advice once, for the place that costs most.
std::vector<Recommendation> Recommend(std::span<const Waits> worst) {
  std::vector<Recommendation> all;
  for (const Waits& waits : worst) {
    Recommendation one = AdviceFor(waits);
    const auto same = [&](const Recommendation& other) { return other.fix == one.fix && other.code == one.code; };
    if (std::none_of(all.begin(), all.end(), same)) all.push_back(std::move(one));
  }
  if (all.empty())
    all.push_back({"copy without waiting: pinned memory and non_blocking=True", "pin",
                   "batch = batch.pin_memory().to(device, non_blocking=True)", "minutes"});
  return all;
}

// Idle time after waits of each device of the ledger.
std::vector<int64_t> IdleByDevice(const Table& syncs, const LedgerView& ledger) {
  std::vector<int64_t> idle;
  for (const DeviceBreakdown& device : ledger.devices) {
    idle.push_back(0);
    for (size_t row = 0; row < syncs.rows(); ++row)
      if (syncs.Int(row, "trace") == device.trace) idle.back() += syncs.Int(row, "idle_after_ns");
  }
  return idle;
}

// Idle time of gaps that consist mostly of a copy call at work.
int64_t IdleInCopies(const Table& idle) {
  int64_t sum = 0;
  for (const NamedTime& one : IdleBy(idle, "operator", "sync_ns", "sync"))
    if (IsCopy(one.name)) sum += one.ns;
  return sum;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView ledger = ReadLedger(tables);
  if (ledger.total.wall_ns == 0) return std::vector<Bottleneck>{};
  const Table& syncs = tables.Get("syncs");
  const std::vector<int64_t> after = IdleByDevice(syncs, ledger);
  const int64_t in_copies = IdleInCopies(tables.Get("idle"));
  const int64_t stake = std::min(ledger.total.idle_ns - ledger.total.idle_data_ns,
                                 std::accumulate(after.begin(), after.end(), in_copies));
  const double share = ledger.Share(stake);
  if (share < kSynchronizationShare) return std::vector<Bottleneck>{};
  const std::vector<Waits> waits = CollectWaits(syncs, ledger);
  const auto worst = std::span(waits).first(std::min<size_t>(3, waits.size()));
  Bottleneck found;
  found.id = "synchronization";
  found.type = BottleneckType::kCpuGpuSync;
  found.severity = SeverityOfShare(share);
  found.share_of_step = share;
  found.title = StrCat("waits for the GPU leave it idle ", ledger.CostText(stake));
  found.description =
      StrCat("For ", FormatPercent(share),
             " of the time the device is idle because the host waited for it and had nothing queued",
             worst.empty() ? "" : StrCat("; most of it after ", NameOf(worst[0])), ledger.WorstText(after), ".");
  for (const Waits& one : worst) found.evidence.push_back(EvidenceOf(one, ledger));
  if (in_copies > 0)
    found.evidence.push_back(LargestGaps(tables.Get("idle"), "sync_ns", "idle gap inside a call that blocks"));
  found.recommendations = Recommend(worst);
  const auto waste = static_cast<double>(stake);
  found.gain = EstimateGain({.fix = "sync",
                             .wall_ns = ledger.total.wall_ns,
                             .low_ns = waste * 0.25,
                             .expected_ns = waste * 0.5,
                             .high_ns = waste,
                             .confidence = 0.5});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(synchronization) = {
    .id = "synchronization",
    .type = BottleneckType::kCpuGpuSync,
    .title = "Waiting for the GPU leaves it without work",
    .why =
        "Idle gaps of the device that began while the host was in a wait (synchronise calls, .item(), copies that "
        "block), without what the data loader took of them, and those in which a copy call blocks. Speaks from "
        "5 % of the time. Names the calls, how often a step makes them, and the line.",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless
