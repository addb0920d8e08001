// SPDX-License-Identifier: Apache-2.0
// Steps as the host saw them and as they were on the device (window.h says where one ends and the next begins).
#include "analyses/rows/steps.h"

#include "analyses/analysis.h"
#include "analyses/columns.h"

namespace gapless::internal::steps_analysis {
namespace {

// Busy time of each window, summed over the devices.
std::vector<int64_t> BusyWithin(const TraceTimeline& timeline) {
  std::vector<Interval> windows;
  for (const StepWindow& step : timeline.window.steps) windows.push_back(step.span);
  std::vector<int64_t> busy(windows.size());
  for (const DeviceTimeline& device : timeline.devices) {
    AddWithin(device.compute, windows, busy);
    AddWithin(device.exposed_communication, windows, busy);
    AddWithin(device.exposed_copies, windows, busy);
  }
  return busy;
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<StepsRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) {
    const Trace& trace = timeline.trace();
    const StepTable& steps = trace.steps;
    const std::vector<int64_t> busy = BusyWithin(timeline);
    const auto devices = static_cast<int64_t>(timeline.devices.size());
    size_t window = 0;
    for (uint32_t step = 0; step < steps.size(); ++step) {
      const bool analysed = window < busy.size() && timeline.window.steps[window].step.value == step;
      const Interval span = analysed ? timeline.window.steps[window].span : Interval{steps.ts_ns[step], kAbsent};
      const int64_t dur = analysed ? span.length() : kAbsent;
      const int64_t busy_ns = analysed && devices > 0 ? busy[window] / devices : kAbsent;
      auto row = table.Row(*timeline.of);
      row.Set("step", steps.number[step]).Set("name", trace.Text(steps.name[step]));
      row.Set("ts_ns", span.start + timeline.of->ts_shift_ns).Set("dur_ns", dur).Set("host_dur_ns", steps.dur_ns[step]);
      row.Set("gpu_busy_ns", busy_ns);
      row.Set("gpu_busy_share",
              busy_ns == kAbsent ? std::numeric_limits<double>::quiet_NaN() : ShareOf(busy[window], dur * devices));
      row.Set("complete", analysed).Set("source", ToString(steps.source[step]));
      window += analysed;
    }
  }
  return table;
}

}  // namespace

ANALYSIS(steps) = AnalysisOf<StepsRows>({.run = Compute});

}  // namespace gapless::internal::steps_analysis
