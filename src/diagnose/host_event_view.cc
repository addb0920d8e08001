// SPDX-License-Identifier: Apache-2.0
// Sums rows of table host_events by kind, without the first complete step, and estimates the gain of their idle time.
#include "diagnose/host_event_view.h"

#include <algorithm>

#include "analyses/rows/host_events.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/run_traits.h"
#include "diagnose/thresholds.h"

namespace gapless::internal {

namespace {

// Minimum calls of one kind and name that count as a habit without steps; only the longest may be a beginning.
constexpr int64_t kHabit = 20;

struct Later {
  int64_t calls = 0, total_ns = 0, idle_ns = 0;
};

// Sums what happens after the first complete step; without steps, all calls of a habit but the longest.
Later LaterOf(const HostEventsRows& events, size_t row) {
  if (!events.IsNull(row, "later_calls"))
    return {events.Int(row, "later_calls"), events.Int(row, "later_total_ns"), events.Int(row, "later_idle_ns")};
  const int64_t calls = events.Int(row, "calls");
  if (calls < kHabit) return {};
  const int64_t longest = events.Int(row, "max_ns");
  return {calls - 1, events.Int(row, "total_ns") - longest, std::max<int64_t>(0, events.Int(row, "idle_ns") - longest)};
}

}  // namespace

HostEventSum SumHostEvents(const HostEventsRows& events, const LedgerView& ledger,
                           std::span<const std::string_view> kinds) {
  HostEventSum sum;
  for (size_t row = 0; row < events.rows(); ++row) {
    if (std::find(kinds.begin(), kinds.end(), events.Text(row, "kind")) == kinds.end()) continue;
    const int64_t devices = ledger.DevicesOf(events.Int(row, "trace"));
    sum.calls += events.Int(row, "calls"), sum.total_ns += events.Int(row, "total_ns");
    sum.idle_ns += events.Int(row, "idle_ns") * devices;
    const Later later = LaterOf(events, row);
    sum.later_calls += later.calls, sum.later_total_ns += later.total_ns, sum.later_idle_ns += later.idle_ns * devices;
    sum.max_ns = std::max(sum.max_ns, events.Int(row, "max_ns"));
    sum.rows.push_back(row);
  }
  std::stable_sort(sum.rows.begin(), sum.rows.end(),
                   [&](size_t a, size_t b) { return events.Int(a, "total_ns") > events.Int(b, "total_ns"); });
  if (sum.rows.size() > kMaxRows) sum.rows.resize(kMaxRows);
  return sum;
}

namespace {

Evidence EvidenceOfRow(const HostEventsRows& events, size_t row) {
  const std::string line = TextOr(events, row, "source_line", ""), name = FrameText(events.Text(row, "name"));
  const int64_t calls = events.Int(row, "calls"), total = events.Int(row, "total_ns");
  return {.text = StrCat(name, name == line ? "" : InLine(line), ": ", FormatCounted(calls, "call"), ", ",
                         FormatDuration(total), " of host time",
                         calls == 1 ? "" : StrCat(", the longest ", FormatDuration(events.Int(row, "max_ns")))),
          .value = static_cast<double>(total),
          .unit = "ns",
          .table = "slice",
          .rows = IdsOf(events, {row}, "slice_id"),
          .source = line};
}

}  // namespace

std::vector<Evidence> EventEvidence(const HostEventsRows& events, std::span<const size_t> rows, size_t most) {
  std::vector<Evidence> all;
  for (size_t i = 0; i < rows.size() && i < most; ++i) all.push_back(EvidenceOfRow(events, rows[i]));
  return all;
}

std::optional<Gain> GainOfIdle(const LedgerView& ledger, int64_t idle_ns, double expected_share, double confidence) {
  const auto idle = static_cast<double>(idle_ns);
  return EstimateGain({.wall_ns = ledger.total.wall_ns,
                       .low_ns = idle * 0.5,
                       .expected_ns = idle * expected_share,
                       .high_ns = idle,
                       .confidence = confidence});
}

std::string LineOf(const HostEventsRows& events, const HostEventSum& sum) {
  for (const size_t row : sum.rows)
    if (!events.IsNull(row, "source_line")) return std::string(events.Text(row, "source_line"));
  return {};
}

std::optional<Bottleneck> IdleOfEngine(Tables& tables, std::span<const std::string_view> kinds, std::string_view what) {
  if (WorkloadOf(tables.run()) != Workload::kServing) return std::nullopt;
  const LedgerView& ledger = ReadLedger(tables);
  const auto events = tables.Get<HostEventsRows>();
  const HostEventSum sum = SumHostEvents(events, ledger, kinds);
  const double share = ledger.Share(sum.idle_ns);
  if (share < kEngineShare) return std::nullopt;
  Bottleneck found;
  found.share_of_step = share;
  found.part_of = "host_bound";
  found.title = StrCat("the GPU waits ", ledger.CostText(sum.idle_ns));
  found.description = StrCat("For ", FormatPercent(share), " of the time the GPU is idle while ", what, ": ",
                             FormatCounted(sum.calls, "call"), ", the longest ", FormatDuration(sum.max_ns), ".");
  found.evidence = EventEvidence(events, sum.rows);
  found.gain = GainOfIdle(ledger, sum.idle_ns, 0.8, 0.5);
  return found;
}

}  // namespace gapless::internal
