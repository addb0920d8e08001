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

#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "diagnose/thresholds.h"

namespace gapless {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "idle", "syncs"};

std::string NameOf(const Table& syncs, size_t row) {
  const std::string call = TextOr(syncs, row, "call", "a wait");
  return syncs.IsNull(row, "operator") ? call : StrCat(syncs.Text(row, "operator"), " (", call, ")");
}

Evidence EvidenceOf(const Table& syncs, size_t row) {
  const bool steps = !syncs.IsNull(row, "calls_per_step");
  const std::string often = steps ? StrCat(FormatNumber(syncs.Real(row, "calls_per_step"), 1), " times a step")
                                  : StrCat(syncs.Int(row, "calls"), " times");
  const std::string line = TextOr(syncs, row, "source_line", "");
  Evidence evidence;
  evidence.text = StrCat(NameOf(syncs, row), InLine(line), ": ", often, ", ", FormatDuration(syncs.Int(row, "wait_ns")),
                         " waited, ", FormatDuration(syncs.Int(row, "idle_after_ns")), " idle after it");
  evidence.value = syncs.Real(row, "idle_after_ns");
  evidence.unit = "ns";
  evidence.table = "sync";
  evidence.rows = {syncs.Int(row, "sync_id")};
  evidence.source = line;
  return evidence;
}

bool IsCopy(std::string_view operator_name) {
  return operator_name == "aten::to" || operator_name == "aten::cuda" ||
         operator_name.find("copy_") != operator_name.npos || operator_name.find("_to_copy") != operator_name.npos;
}

Recommendation AdviceFor(const Table& syncs, size_t row) {
  const std::string_view op = syncs.Text(row, "operator"), kind = syncs.Text(row, "kind");
  const std::string line = InLine(syncs.Text(row, "source_line"));
  const auto is = [&](std::string_view part) { return op.find(part) != op.npos; };
  if (is("item") || is("_local_scalar_dense") || is("is_nonzero"))
    return {StrCat("read the value every N steps, or keep it on the device: ", op,
                   " waits for all work queued before it", line),
            "sync", "if step % 100 == 0: log(loss.item())", "minutes"};
  if (is("nonzero") || is("index") || is("masked") || is("unique"))
    return {StrCat("avoid shapes that depend on values: ", op, " must know the result's size", line), "sync",
            "torch.where(mask, x, 0)", "hours"};
  if (IsCopy(op) || kind == "implicit")
    return {StrCat("copy without waiting: pinned memory and non_blocking=True", line), "pin",
            "DataLoader(..., pin_memory=True); batch.to(device, non_blocking=True)", "minutes"};
  if (kind == "device")
    return {StrCat("take torch.cuda.synchronize() out of the training loop", line), "sync", "", "minutes"};
  return {StrCat("do not wait for the device each step: ", NameOf(syncs, row), line), "sync", "", "hours"};
}

// The groups that idle the device most; without a device's idle time, those that wait longest.
std::vector<size_t> WorstGroups(const Table& syncs) {
  constexpr size_t kGroups = 3;
  std::vector<size_t> rows = LargestRows(syncs, "idle_after_ns", kGroups);
  return rows.empty() ? LargestRows(syncs, "wait_ns", kGroups) : rows;
}

// Idle time after waits, summed over devices as the ledger's totals are: analysis syncs gives means over a trace's
// devices.
int64_t IdleAfterWaits(const Table& syncs, const LedgerView& ledger) {
  const int trace = syncs.Find("trace"), idle = syncs.Find("idle_after_ns");
  int64_t sum = 0;
  for (size_t row = 0; row < syncs.rows(); ++row)
    sum += syncs.Int(row, idle) *
           std::count_if(ledger.devices.begin(), ledger.devices.end(),
                         [&](const DeviceBreakdown& device) { return device.trace == syncs.Int(row, trace); });
  return sum;
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
  const int64_t in_copies = IdleInCopies(tables.Get("idle"));
  const int64_t stake =
      std::min(ledger.total.idle_ns - ledger.total.idle_data_ns, in_copies + IdleAfterWaits(syncs, ledger));
  const double share = ledger.Share(stake);
  if (share < kSynchronizationShare) return std::vector<Bottleneck>{};
  const std::vector<size_t> worst = WorstGroups(syncs);
  Bottleneck found;
  found.id = "synchronization";
  found.type = BottleneckType::kCpuGpuSync;
  found.severity = SeverityOfShare(share);
  found.share_of_step = share;
  found.title = StrCat("waits for the GPU leave it idle ", ledger.CostText(stake));
  found.description = StrCat("For ", FormatPercent(share),
                             " of the time the device is idle because the host waited for it and had nothing queued",
                             worst.empty() ? "" : StrCat("; most of it after ", NameOf(syncs, worst[0])),
                             ledger.WorstText(&DeviceBreakdown::idle_sync_ns), ".");
  for (const size_t row : worst) found.evidence.push_back(EvidenceOf(syncs, row));
  if (in_copies > 0)
    found.evidence.push_back(LargestGaps(tables.Get("idle"), "sync_ns", "idle gap inside a call that blocks"));
  for (const size_t row : worst) found.recommendations.push_back(AdviceFor(syncs, row));
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
