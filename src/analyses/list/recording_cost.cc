// SPDX-License-Identifier: Apache-2.0
// Estimates what recording itself adds to the time of a recorded step.
//
// If the agent saw the run, by comparison: the median of the steps in which the profiler recorded, against the
// median of those in which it did not, without the first one and the one behind a recording. Steps differ for other
// reasons, too, so a difference that is not above zero is no estimate. The first steps of a program are slow, so
// recorded steps with fewer than three others before them are not compared: that would be warm-up against the rest.
// And a program whose steps were as slow before it was recorded is not slowed down by that: the slower of the medians
// before and behind the recording counts. Elsewhere, by counting: each Python call that
// was recorded took the recorder kMinPythonCallNs at least.
#include "analyses/rows/recording_cost.h"

#include <algorithm>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/recording_overhead.h"
#include "trace/marks.h"

namespace gapless::internal::recording_cost_analysis {
namespace {

constexpr size_t kFewestSteps = 3;  // on both sides, for a median

struct Estimate {
  std::vector<int64_t> recorded_ns, before_ns, behind_ns;
};

// The median of the steps that were not recorded: before the recording or behind it, whichever is slower.
int64_t OtherNs(Estimate& estimate) {
  const int64_t before_ns = Percentile(estimate.before_ns, 0.5);
  if (estimate.behind_ns.size() < kFewestSteps) return before_ns;
  return std::max(before_ns, Percentile(estimate.behind_ns, 0.5));
}

Estimate Compare(const Trace& agent) {
  Intervals recorded;
  for (size_t row = 0; row < agent.slices.size(); ++row)
    if (agent.Text(agent.slices.name[row]) == kProfilerRecordsName)
      AppendMerged(recorded, {agent.slices.ts_ns[row], agent.slices.ts_ns[row] + agent.slices.dur_ns[row]});
  Estimate estimate;
  bool after_recorded = false;
  for (size_t row = 1; row < agent.steps.size(); ++row) {
    const Interval span{agent.steps.ts_ns[row], agent.steps.ts_ns[row] + agent.steps.dur_ns[row]};
    const int64_t inside_ns = TotalIn(recorded, span);
    if (2 * inside_ns > span.length())
      estimate.recorded_ns.push_back(span.length());
    else if (inside_ns == 0 && !after_recorded)
      (estimate.recorded_ns.empty() ? estimate.before_ns : estimate.behind_ns).push_back(span.length());
    after_recorded = inside_ns > 0;
  }
  return estimate;
}

bool AddCompared(const RunTrace& of, TableOf<RecordingCostRows>& table) {
  Estimate estimate = Compare(*of.trace);
  const auto steps = static_cast<int64_t>(estimate.recorded_ns.size());
  const auto others = static_cast<int64_t>(estimate.before_ns.size() + estimate.behind_ns.size());
  if (estimate.recorded_ns.size() < kFewestSteps || estimate.before_ns.size() < kFewestSteps) return false;
  const int64_t recorded_ns = Percentile(estimate.recorded_ns, 0.5), other_ns = OtherNs(estimate);
  const int64_t added_ns = std::max<int64_t>(0, recorded_ns - other_ns);
  auto row = table.Row(of);
  row.Set("method", "compared").Set("recorded_steps", steps).Set("recorded_ns", recorded_ns).Set("other_steps", others);
  row.Set("other_ns", other_ns).Set("calls_per_step", kAbsent).Set("added_ns", added_ns);
  row.Set("added_share", ShareOf(added_ns, recorded_ns));
  return true;
}

void AddCounted(const RunTrace& of, TableOf<RecordingCostRows>& table) {
  const Trace& trace = *of.trace;
  std::vector<int64_t> durations;
  Intervals steps;
  for (size_t step = 0; step < trace.steps.size(); ++step) {
    if (trace.steps.complete[step] == 0) continue;
    durations.push_back(trace.steps.dur_ns[step]);
    AppendMerged(steps, {trace.steps.ts_ns[step], trace.steps.ts_ns[step] + trace.steps.dur_ns[step]});
  }
  const auto count = static_cast<int64_t>(durations.size());
  int64_t calls = 0;
  for (const Interval& step : steps) {
    const RowRange rows = RowsWithin(trace.slices.ts_ns, step);
    for (size_t row = rows.first; row < rows.last; ++row) calls += trace.slices.category[row] == SliceCategory::kPython;
  }
  if (count == 0 || calls == 0) return;
  const int64_t median_ns = Percentile(durations, 0.5);
  const int64_t calls_a_step = calls / count, added_ns = calls_a_step * kMinPythonCallNs;
  auto row = table.Row(of);
  row.Set("method", "counted").Set("recorded_steps", count).Set("recorded_ns", median_ns).Set("other_steps", kAbsent);
  row.Set("other_ns", kAbsent).Set("calls_per_step", calls_a_step).Set("added_ns", std::min(added_ns, median_ns));
  row.Set("added_share", std::min(1.0, ShareOf(added_ns, median_ns)));
}

Result<Table> Compute(const Run& run, Tables&) {
  TableOf<RecordingCostRows> table;
  bool compared = false;
  for (const RunTrace& of : run.traces())
    if (of.counts() && of.trace->info.format == "agent") compared |= AddCompared(of, table);
  if (compared) return table;
  for (const RunTrace* of : run.primary()) AddCounted(*of, table);
  return table;
}

}  // namespace

ANALYSIS(recording_cost) = AnalysisOf<RecordingCostRows>({.run = Compute});

}  // namespace gapless::internal::recording_cost_analysis
