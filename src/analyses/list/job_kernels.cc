// SPDX-License-Identifier: Apache-2.0
// Merges the sketches of table kernel_durations over all recordings, by name. Kernels that take less than a thousandth
// of a device's time there are not counted there.
#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/rows/kernel_durations.h"
#include "base/duration_sketch.h"

namespace gapless::internal::job_kernels_analysis {
namespace {

struct Merged {
  DurationSketch durations{};
  std::set<int64_t> traces{};
  int64_t total_ns = 0, max_ns = 0, slowest_p50_ns = -1, slowest = 0;
};

Result<Table> Compute(const Run& run, Tables& tables) {
  const auto rows = tables.Get<KernelDurationsRows>();
  std::map<std::string_view, Merged> by_name;
  for (size_t row = 0; row < rows.rows(); ++row) {
    const auto durations = DurationSketch::FromText(rows.Text(row, "buckets"));
    if (!durations) continue;  // of a damaged summary
    Merged& merged = by_name[rows.Text(row, "kernel")];
    merged.durations.Merge(*durations);
    merged.traces.insert(rows.Int(row, "trace"));
    merged.total_ns += rows.Int(row, "total_ns"), merged.max_ns = std::max(merged.max_ns, rows.Int(row, "max_ns"));
    if (rows.Int(row, "p50_ns") > merged.slowest_p50_ns)
      merged.slowest_p50_ns = rows.Int(row, "p50_ns"), merged.slowest = rows.Int(row, "trace");
  }
  std::vector<std::pair<std::string_view, const Merged*>> sorted;
  for (const auto& [name, merged] : by_name) sorted.emplace_back(name, &merged);
  std::ranges::stable_sort(sorted, std::ranges::greater(), [](const auto& one) { return one.second->total_ns; });
  TableOf<JobKernelsRows> table;
  for (const auto& [name, merged] : sorted) {
    const auto quantile = [&](double share) { return std::min(merged->max_ns, merged->durations.Quantile(share)); };
    const RunTrace& slowest = run.traces()[static_cast<size_t>(merged->slowest)];
    auto row = table.Row(slowest);
    row.Set("kernel", name).Set("ranks", merged->traces.size()).Set("calls", merged->durations.count());
    row.Set("total_ns", merged->total_ns).Set("p50_ns", quantile(0.5)).Set("p90_ns", quantile(0.9));
    row.Set("p99_ns", quantile(0.99)).Set("max_ns", merged->max_ns).Set("error", merged->durations.error());
    row.Set("slowest_p50_ns", merged->slowest_p50_ns);
  }
  return table;
}

}  // namespace

ANALYSIS(job_kernels) = AnalysisOf<JobKernelsRows>({.run = Compute, .compares_ranks = true});

}  // namespace gapless::internal::job_kernels_analysis
