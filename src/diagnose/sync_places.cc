// SPDX-License-Identifier: Apache-2.0
// Groups the rows of table syncs by call, operator and line, and formats them as evidence.
#include "diagnose/sync_places.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analyses/rows/syncs.h"
#include "base/strings.h"
#include "diagnose/evidence.h"

namespace gapless::internal {
namespace {

bool Belongs(const SyncsRows& syncs, size_t row, Waits which) {
  if (syncs.Text(row, "kind") == "stream_wait") return false;
  return syncs.IsNull(row, "operator") == (which == Waits::kExplicit);
}

}  // namespace

std::string SyncPlace::Name() const { return op.empty() ? call : StrCat(op, " (", call, ")"); }

SyncPlaces CollectSyncPlaces(const SyncsRows& syncs, const LedgerView& ledger, Waits which) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, SyncPlace> by_place;
  for (size_t row = 0; row < syncs.rows(); ++row) {
    if (!Belongs(syncs, row, which)) continue;
    const std::string kind = TextOr(syncs, row, "kind", ""), call = TextOr(syncs, row, "call", "a wait");
    const std::string op = TextOr(syncs, row, "operator", ""), line = TextOr(syncs, row, "source_line", "");
    SyncPlace& place = by_place[{kind, call, op, line}];
    place.kind = kind, place.call = call, place.op = op, place.line = line;
    place.calls += syncs.Int(row, "calls");
    place.wait_ns += syncs.Int(row, "wait_ns");
    place.idle_ns += syncs.Int(row, "avoidable_ns") * ledger.DevicesOf(syncs.Int(row, "trace"));
    if (!syncs.IsNull(row, "calls_per_step"))
      place.calls_per_step = std::max(place.calls_per_step, syncs.Real(row, "calls_per_step"));
    if (place.ids.size() < kMaxRows) place.ids.push_back(syncs.Int(row, "sync_id"));
  }
  SyncPlaces all;
  for (auto& [key, place] : by_place) all.places.push_back(std::move(place));
  std::stable_sort(all.places.begin(), all.places.end(), [](const SyncPlace& a, const SyncPlace& b) {
    return a.idle_ns != b.idle_ns ? a.idle_ns > b.idle_ns : a.wait_ns > b.wait_ns;
  });
  std::map<int64_t, int64_t> by_trace;
  for (size_t row = 0; row < syncs.rows(); ++row)
    if (Belongs(syncs, row, which)) by_trace[syncs.Int(row, "trace")] += syncs.Int(row, "avoidable_ns");
  for (const DeviceBreakdown& device : ledger.devices) {
    all.by_device.push_back(by_trace[device.trace]);
    all.idle_ns += all.by_device.back();
  }
  return all;
}

double SyncShare(const SyncsRows& syncs, const LedgerView& ledger) {
  int64_t idle = 0;
  for (const Waits which : {Waits::kExplicit, Waits::kImplicit})
    idle += CollectSyncPlaces(syncs, ledger, which).idle_ns;
  return ledger.Share(std::min(idle, ledger.total.idle_ns - ledger.total.idle_data_ns));
}

Evidence EvidenceOf(const SyncPlace& place, const LedgerView& ledger) {
  const std::string often =
      place.calls_per_step > 0 ? TimesAStep(place.calls_per_step) : FormatTimes(static_cast<double>(place.calls));
  return {
      .text = StrCat(place.Name(), InLine(place.line), ": ", often, ", ", FormatDuration(place.wait_ns / place.calls),
                     " each; not waiting would save up to ", ledger.CostText(place.idle_ns)),
      .value = static_cast<double>(place.idle_ns),
      .unit = "ns",
      .table = "sync",
      .rows = place.ids,
      .source = place.line};
}

}  // namespace gapless::internal
