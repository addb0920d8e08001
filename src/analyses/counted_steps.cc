// SPDX-License-Identifier: Apache-2.0
#include "analyses/counted_steps.h"

#include <algorithm>

#include "trace/formats.h"
#include "trace/marks.h"

namespace gapless::internal {

namespace {

// The times in which the profiler recorded, each with the step behind it.
Intervals TimesOfRecording(const Trace& trace) {
  Intervals recorded;
  const SliceTable& slices = trace.slices;
  for (size_t row = 0; row < slices.size(); ++row)
    if (trace.Text(slices.name[row]) == kProfilerRecordsName)
      AppendMerged(recorded, {slices.ts_ns[row], slices.ts_ns[row] + slices.dur_ns[row] + 1});
  return recorded;
}

}  // namespace

std::vector<uint32_t> StepsThatCount(const Trace& trace) {
  std::vector<uint32_t> rows;
  const Intervals recorded = TimesOfRecording(trace);
  for (size_t row = 1; row < trace.steps.size(); ++row)
    if (trace.steps.complete[row] != 0 && !IsSomeIn(recorded, SpanOfStep(trace, row)))
      rows.push_back(static_cast<uint32_t>(row));
  return rows;
}

std::optional<Interval> TimeOfSteps(const Run& run) {
  std::optional<Interval> window;
  for (const RunTrace& of : run.traces()) {
    const StepTable& steps = of.trace->steps;
    if (!of.counts() || of.trace->info.format != kAgentFormat || steps.size() == 0) continue;
    const size_t last = steps.size() - 1;
    const Interval span{steps.ts_ns[0] + of.ts_shift_ns, steps.ts_ns[last] + steps.dur_ns[last] + of.ts_shift_ns};
    window = window ? Interval{std::min(window->start, span.start), std::max(window->end, span.end)} : span;
  }
  return window;
}

}  // namespace gapless::internal
