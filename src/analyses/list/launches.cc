// SPDX-License-Identifier: Apache-2.0
// Measures how work reaches each device: what launching costs the host, how long launched work waits, and how small the
// pieces are. Runtime, driver and graph launches, copies and fills all count; a graph launch is one call with many
// operations.
#include "analyses/rows/launches.h"

#include <utility>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/columns.h"

namespace gapless::internal::launches_analysis {
namespace {

// TraceLens "short_kernels" and its agent's rules draw the line there: launching one costs the host about as much.
constexpr int64_t kShortKernelNs = 10'000;

struct Stats {
  std::vector<int64_t> call_ns, delay_ns, kernel_ns;
  int64_t gpu_ops = 0, graph_calls = 0, queued = 0, call_total_ns = 0, short_kernels = 0;
};

// Launch → place, from 1 on, of the device for which the launch was counted last; 0: for none yet. A launch of a graph
// has many operations, and counts once for each device.
using CountedOn = std::vector<uint32_t>;

Stats Collect(const TraceTimeline& timeline, uint32_t place, CountedOn& counted_on) {
  Stats stats;
  const Trace& trace = timeline.trace();
  const GpuOpTable& ops = trace.gpu_ops;
  const SliceTable& slices = trace.slices;
  int64_t busy_until = std::numeric_limits<int64_t>::min();
  for (const uint32_t row : timeline.devices[place - 1].RowsInWindow()) {
    const int64_t start = ops.ts_ns[row], dur = ops.dur_ns[row], busy_before = busy_until;
    busy_until = std::max(busy_until, start + dur);
    if (ops.kind[row] == GpuOpKind::kKernel && ops.op_class[row] != GpuOpClass::kCommunication) {
      stats.kernel_ns.push_back(dur);
      stats.short_kernels += dur < kShortKernelNs;
    }
    const SliceId launch = ops.launch[row];
    if (!launch.valid()) continue;
    ++stats.gpu_ops;
    if (std::exchange(counted_on[launch.value], place) == place) continue;
    const int64_t call_ns = slices.dur_ns[launch.value], call_end = slices.ts_ns[launch.value] + call_ns;
    stats.call_ns.push_back(call_ns);
    stats.call_total_ns += call_ns;
    stats.delay_ns.push_back(std::max<int64_t>(0, start - call_end));
    stats.queued += busy_before > call_end;
    stats.graph_calls += slices.api[launch.value] == ApiKind::kGraphLaunch;
  }
  return stats;
}

void AddRow(const TraceTimeline& timeline, uint32_t place, CountedOn& counted_on, TableOf<LaunchesRows>& table) {
  Stats stats = Collect(timeline, place, counted_on);
  const auto calls = static_cast<int64_t>(stats.call_ns.size());
  const auto kernels = static_cast<int64_t>(stats.kernel_ns.size());
  auto row = table.Row(*timeline.of);
  row.Set("device", timeline.devices[place - 1].device).Set("calls", calls).Set("graph_calls", stats.graph_calls);
  row.Set("gpu_ops", stats.gpu_ops);
  row.Set("calls_per_step", ShareOf(calls, static_cast<int64_t>(timeline.window.steps.size())));
  row.Set("call_total_ns", stats.call_total_ns).Set("call_mean_ns", MeanOf(stats.call_total_ns, calls));
  row.Set("call_p50_ns", Percentile(stats.call_ns, 0.5)).Set("call_p95_ns", Percentile(stats.call_ns, 0.95));
  row.Set("delay_p50_ns", Percentile(stats.delay_ns, 0.5)).Set("delay_p95_ns", Percentile(stats.delay_ns, 0.95));
  row.Set("queued_share", ShareOf(stats.queued, calls)).Set("kernels", kernels);
  row.Set("kernel_p50_ns", Percentile(stats.kernel_ns, 0.5)).Set("short_kernels", stats.short_kernels);
  row.Set("short_kernel_share", ShareOf(stats.short_kernels, kernels));
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<LaunchesRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) {
    CountedOn counted_on(timeline.trace().slices.size());
    for (uint32_t place = 1; place <= timeline.devices.size(); ++place) AddRow(timeline, place, counted_on, table);
  }
  return table;
}

}  // namespace

ANALYSIS(launches) = AnalysisOf<LaunchesRows>({.run = Compute, .cost = 3});

}  // namespace gapless::internal::launches_analysis
