// SPDX-License-Identifier: Apache-2.0
// A sketch of durations for each kernel name of a device (base/duration_sketch.h). Job-wide quantiles are those of the
// merged sketches, so that recordings and summaries give the same.
#include "analyses/rows/kernel_durations.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/timeline.h"
#include "base/duration_sketch.h"

namespace gapless::internal::kernel_durations_analysis {
namespace {

constexpr int64_t kLeastPart = 1000;  // of the kernels' time, one part in so many
constexpr size_t kMaxNames = 64;      // of a device, those with most time

struct Named {
  DurationSketch durations{};
  int64_t total_ns = 0, max_ns = 0;
};

void AddRows(const TraceTimeline& timeline, const DeviceTimeline& device, TableOf<KernelDurationsRows>& table) {
  const GpuOpTable& ops = timeline.trace().gpu_ops;
  std::map<uint32_t, std::map<int64_t, int64_t>> counts;  // by name: how often each duration comes
  int64_t all_ns = 0;
  for (const uint32_t row : device.RowsInWindow()) {
    if (ops.kind[row] != GpuOpKind::kKernel) continue;
    ++counts[static_cast<uint32_t>(ops.name[row])][ops.dur_ns[row]];
    all_ns += ops.dur_ns[row];
  }
  std::vector<std::pair<std::string_view, Named>> kernels;
  for (const auto& [name, durations] : counts) {
    Named named;
    for (const auto& [ns, count] : durations) named.total_ns += ns * count, named.max_ns = ns;
    if (named.total_ns < all_ns / kLeastPart || named.total_ns == 0) continue;
    for (const auto& [ns, count] : durations) named.durations.Add(ns, count);
    kernels.emplace_back(timeline.trace().Text(static_cast<StringId>(name)), std::move(named));
  }
  std::ranges::sort(kernels, [](const auto& a, const auto& b) {
    return std::pair(-a.second.total_ns, a.first) < std::pair(-b.second.total_ns, b.first);
  });
  kernels.resize(std::min(kernels.size(), kMaxNames));
  for (const auto& [name, named] : kernels) {
    const auto quantile = [&](double share) { return std::min(named.max_ns, named.durations.Quantile(share)); };
    auto row = table.Row(*timeline.of);
    row.Set("device", device.device).Set("kernel", name).Set("calls", named.durations.count());
    row.Set("total_ns", named.total_ns).Set("p50_ns", quantile(0.5)).Set("p90_ns", quantile(0.9));
    row.Set("p99_ns", quantile(0.99)).Set("max_ns", named.max_ns).Set("error", named.durations.error());
    row.Set("buckets", std::string_view(named.durations.ToText()));
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<KernelDurationsRows> table;
  for (const TraceTimeline& timeline : tables.Timelines())
    for (const DeviceTimeline& device : timeline.devices) AddRows(timeline, device, table);
  return table;
}

}  // namespace

ANALYSIS(kernel_durations) = AnalysisOf<KernelDurationsRows>({.run = Compute});

}  // namespace gapless::internal::kernel_durations_analysis
