// SPDX-License-Identifier: Apache-2.0
// Work of the devices that the recording does not hold (trace/lost_work.h). Idle time is known only as well as this is
// zero: what is missing looks like it.
#include "analyses/rows/lost_work.h"

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "trace/lost_work.h"

namespace gapless::internal::lost_work_analysis {
namespace {

// Returns true for a launch that is analysed: in a complete step of the window, or without steps in the window.
bool IsAnalysed(const Trace& trace, const Window& window, SliceId launch) {
  const int64_t ts_ns = trace.slices.ts_ns[launch.value];
  if (ts_ns < window.host.start || ts_ns >= window.host.end) return false;
  if (window.steps.empty()) return true;
  const StepId step = trace.slices.step[launch.value];
  return step.valid() && trace.steps.complete[step.value] != 0;
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<LostWorkRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) {
    const Trace& trace = timeline.trace();
    const auto ops = static_cast<int64_t>(trace.gpu_ops.size());
    const int64_t without_time = OpsWithoutTime(trace);
    if (ops + without_time == 0) continue;
    const LostWork work = FindLostWork(trace);
    int64_t launches = 0, lost = 0;
    for (size_t i = 0; i < work.launches.size(); ++i) {
      if (!IsAnalysed(trace, timeline.window, work.launches[i])) continue;
      ++launches, lost += work.is_lost[i];
    }
    auto row = table.Row(*timeline.of);
    row.Set("gpu_ops", ops).Set("without_time", without_time).Set("launches", launches).Set("lost", lost);
    row.Set("lost_share", launches > 0 ? ShareOf(lost, launches) : ShareOf(without_time, ops + without_time));
  }
  return table;
}

}  // namespace

ANALYSIS(lost_work) = AnalysisOf<LostWorkRows>({.run = Compute});

}  // namespace gapless::internal::lost_work_analysis
