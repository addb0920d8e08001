// SPDX-License-Identifier: Apache-2.0
// The waste ledger: every nanosecond of a device's time in exactly one bucket. A kernel that computes hides
// communication and copies that run beside it, and communication hides copies: what is left of those is exposed. Idle
// time is cut by cause (timeline.h). compute + exposed_comm + exposed_copy + idle = wall, and the idle parts add up to
// idle, to the nanosecond.
#include "analyses/rows/ledger.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "analyses/analysis.h"
#include "analyses/columns.h"

namespace gapless::internal::ledger_analysis {
namespace {

constexpr size_t kBuckets = 3 + kIdleCauses;  // compute, communication, copies, then idle by cause

using Sums = std::array<std::vector<int64_t>, kBuckets>;  // by bucket, then by window

// Parts are in order, and so are the windows: one walk.
void AddIdle(const DeviceTimeline& device, std::span<const Interval> windows, Sums& sums) {
  size_t first = 0;
  for (const IdleGap& gap : device.gaps) {
    for (uint32_t part = gap.first_part; part < gap.first_part + gap.part_count; ++part) {
      const Interval span{device.parts[part].start, device.PartEnd(gap, part)};
      while (first < windows.size() && windows[first].end <= span.start) ++first;
      auto& of_cause = sums[3 + static_cast<size_t>(device.parts[part].cause)];
      for (size_t w = first; w < windows.size() && windows[w].start < span.end; ++w)
        of_cause[w] +=
            std::max<int64_t>(0, std::min(span.end, windows[w].end) - std::max(span.start, windows[w].start));
    }
  }
}

void AddRows(const TraceTimeline& timeline, const DeviceTimeline& device, std::span<const Interval> windows,
             std::span<const int64_t> numbers, TableOf<LedgerRows>& table) {
  Sums sums;
  for (auto& bucket : sums) bucket.resize(windows.size());
  AddWithin(device.compute, windows, sums[0]);
  AddWithin(device.exposed_communication, windows, sums[1]);
  AddWithin(device.exposed_copies, windows, sums[2]);
  AddIdle(device, windows, sums);
  for (size_t w = 0; w < windows.size(); ++w) {
    std::array<int64_t, kBuckets> ns;
    std::ranges::transform(sums, ns.begin(), [&](const auto& bucket) { return bucket[w]; });
    auto row = table.Row(*timeline.of);
    row.Set("device", device.device).Set("step", numbers[w]).Set("wall_ns", windows[w].length());
    row.Set("idle_ns", std::accumulate(ns.begin() + 3, ns.end(), int64_t{0}));
    row.SetEach({"compute_ns", "exposed_comm_ns", "exposed_copy_ns", "idle_data_ns", "idle_launch_ns", "idle_sync_ns",
                 "idle_host_ns", "idle_unknown_ns"},
                ns);
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<LedgerRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) {
    std::vector<Interval> windows;
    std::vector<int64_t> numbers;
    for (const StepWindow& step : timeline.window.steps) {
      windows.push_back(step.span);
      numbers.push_back(timeline.trace().steps.number[step.step.value]);
    }
    for (const DeviceTimeline& device : timeline.devices) {
      AddRows(timeline, device, {&timeline.window.span, 1}, std::array{kAbsent}, table);
      AddRows(timeline, device, windows, numbers, table);
    }
  }
  return table;
}

}  // namespace

ANALYSIS(ledger) = AnalysisOf<LedgerRows>({.run = Compute});

}  // namespace gapless::internal::ledger_analysis
