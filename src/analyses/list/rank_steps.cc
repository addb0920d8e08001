// SPDX-License-Identifier: Apache-2.0
// The own work of each device and why it idled, step by step: by it a rank that is late in every step is told from one
// that was late once (list/slow_parts.cc).
#include "analyses/rows/rank_steps.h"

#include <algorithm>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/own_work.h"
#include "trace/marks.h"

namespace gapless::internal::rank_steps_analysis {
namespace {

// Idle time of one step.
struct Idle {
  int64_t data_ns = 0, host_ns = 0, pause_ns = 0, garbage_ns = 0;
};

// The time in which Python's garbage collection is recorded.
Intervals GarbageOf(const Trace& trace) {
  const StringId garbage = trace.strings.Find(kGarbageName);
  Intervals spans;
  if (garbage == StringId::kNone) return spans;
  for (size_t row = 0; row < trace.slices.size(); ++row)
    if (trace.slices.name[row] == garbage)
      AppendMerged(spans, {trace.slices.ts_ns[row], trace.slices.ts_ns[row] + trace.slices.dur_ns[row]});
  return spans;
}

// Adds the idle gaps of a device to the steps whose windows they lie in. Gaps and windows are in order.
void AddGaps(const DeviceTimeline& on, const std::vector<StepWindow>& steps, const Intervals& garbage,
             std::vector<Idle>& idle) {
  size_t first = 0;
  for (const IdleGap& gap : on.gaps) {
    while (first < steps.size() && steps[first].span.end <= gap.span.start) ++first;
    for (size_t at = first; at < steps.size() && steps[at].span.start < gap.span.end; ++at) {
      int64_t host_ns = 0;
      for (uint32_t part = gap.first_part; part < gap.first_part + gap.part_count; ++part) {
        const Interval within{std::max(on.parts[part].start, steps[at].span.start),
                              std::min(on.PartEnd(gap, part), steps[at].span.end)};
        if (within.length() <= 0) continue;
        const bool data = on.parts[part].cause == IdleCause::kData;
        (data ? idle[at].data_ns : host_ns) += within.length();
        if (!data) idle[at].garbage_ns += TotalIn(garbage, within);
      }
      idle[at].host_ns += host_ns, idle[at].pause_ns = std::max(idle[at].pause_ns, host_ns);
    }
  }
}

void AddRows(const TraceTimeline& timeline, const DeviceTimeline& on, const OwnWork& work, const Intervals& garbage,
             TableOf<RankStepsRows>& table) {
  const std::vector<StepWindow>& steps = timeline.window.steps;
  std::vector<Idle> idle(steps.size());
  AddGaps(on, steps, garbage, idle);
  std::vector<Interval> windows;
  for (const StepWindow& step : steps) windows.push_back(step.span);
  std::vector<int64_t> copies(steps.size());
  AddWithin(on.exposed_copies, windows, copies);
  for (size_t at = 0; at < steps.size(); ++at) {
    auto row = table.Row(*timeline.of);
    row.Set("device", on.device).Set("step", timeline.trace().steps.number[steps[at].step.value]);
    row.Set("wall_ns", steps[at].span.length()).Set("kernels", work.by_step[at].count);
    row.Set("kernel_ns", work.by_step[at].ns).Set("copies_ns", copies[at]).Set("data_ns", idle[at].data_ns);
    row.Set("host_ns", idle[at].host_ns).Set("pause_ns", idle[at].pause_ns).Set("garbage_ns", idle[at].garbage_ns);
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<RankStepsRows> table;
  auto work = tables.OnceForRun(OwnWorkOfDevices).begin();
  for (const TraceTimeline& timeline : tables.Timelines()) {
    if (timeline.devices.empty()) continue;
    const Intervals garbage = GarbageOf(timeline.trace());
    for (const DeviceTimeline& on : timeline.devices) AddRows(timeline, on, *work++, garbage, table);
  }
  return table;
}

}  // namespace

ANALYSIS(rank_steps) = AnalysisOf<RankStepsRows>({.run = Compute});

}  // namespace gapless::internal::rank_steps_analysis
