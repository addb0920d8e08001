// SPDX-License-Identifier: Apache-2.0
// The cycles between two instructions of a warp, by the reason for which it waits: counters of the section of warp
// states. The costliest reason of a launch comes first.
#include "analyses/rows/kernel_stalls.h"

#include <algorithm>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/launch_counters.h"
#include "analyses/stall_reasons.h"

namespace gapless::internal::kernel_stalls_analysis {
namespace {

constexpr std::string_view kBegin = "smsp__average_warps_issue_stalled_", kEnd = "_per_issue_active.ratio";

struct Stall {
  std::string_view reason;
  double cycles = 0;
};

std::vector<Stall> StallsOf(const LaunchCounters& counters) {
  std::vector<Stall> stalls;
  for (const auto& [name, value] : counters.all())
    if (name.starts_with(kBegin) && name.ends_with(kEnd) && value > 0 && name.size() > kBegin.size() + kEnd.size())
      if (const auto reason = name.substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size());
          !reason.ends_with("_not_issued"))
        stalls.push_back({reason, value});
  std::ranges::stable_sort(stalls, [](const Stall& a, const Stall& b) { return a.cycles > b.cycles; });
  return stalls;
}

Result<Table> Compute(const Run& run, Tables&) {
  TableOf<KernelStallsRows> table;
  for (const RunTrace& of : run.traces())
    for (const MeasuredLaunch& launch : MeasuredLaunches(*of.trace)) {
      const std::vector<Stall> stalls = StallsOf(launch.counters);
      double all = 0;
      for (const Stall& stall : stalls) all += stall.cycles;
      for (const Stall& stall : stalls) {
        auto row = table.Row(of);
        row.Set("launch_index", launch.index).Set("kernel_name", launch.kernel).Set("stall", stall.reason);
        row.Set("waits_for", WaitsFor(stall.reason)).Set("cycles", stall.cycles).Set("share", stall.cycles / all);
      }
    }
  return table;
}

}  // namespace

ANALYSIS(kernel_stalls) = AnalysisOf<KernelStallsRows>({.run = Compute});

}  // namespace gapless::internal::kernel_stalls_analysis
