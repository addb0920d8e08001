// SPDX-License-Identifier: Apache-2.0
// Compares the metrics of a kernel with fixed limits, and makes a finding for each limit that it misses.
#include "diagnose/kernel_analyzer.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "fixes/names.h"

namespace gapless::internal {
namespace {

constexpr KernelThresholds kLines = KernelAnalyzer::kThresholds;

struct Verdict {
  BottleneckType type;
  std::string_view metric;
  double value = 0;  // percent
  double severity_without_timeline = 0;
  std::string title, description;
  std::vector<Recommendation> recommendations{};
};

Bottleneck Make(const KernelMetrics& kernel, Verdict verdict) {
  Bottleneck found;
  found.id = "kernel_metrics";
  found.type = verdict.type;
  const bool timeline = std::isfinite(kernel.share_of_step);
  found.severity =
      timeline ? SeverityOfShare(kernel.share_of_step) : std::clamp(verdict.severity_without_timeline, 0.0, 1.0);
  if (timeline) found.share_of_step = kernel.share_of_step;
  found.title = StrCat(kernel.name, ": ", verdict.title);
  found.description = std::move(verdict.description);
  std::string text = StrCat(verdict.metric, " ", FormatNumber(verdict.value, 1), " %");
  if (kernel.registers_per_thread >= 0) text += StrCat(", ", kernel.registers_per_thread, " registers per thread");
  if (kernel.shared_bytes_per_block >= 0)
    text += StrCat(", ", kernel.shared_bytes_per_block, " bytes of shared memory per block");
  found.evidence.push_back(
      {.text = std::move(text), .value = verdict.value, .unit = "percent", .table = "kernel_metric"});
  found.recommendations = std::move(verdict.recommendations);
  return found;
}

Verdict MemoryBound(const KernelMetrics& kernel) {
  return {BottleneckType::kMemoryBandwidth,
          "DRAM throughput",
          kernel.dram_throughput_pct,
          kernel.dram_throughput_pct / 100,
          "bound by memory bandwidth",
          StrCat("Memory runs at ", FormatNumber(kernel.dram_throughput_pct, 1), " % of its peak, computing at ",
                 FormatNumber(kernel.sm_throughput_pct, 1), " %."),
          {{"move fewer bytes: fuse the kernel with its neighbours, or use a narrower type", fixes::kCompile.Item(),
            "model = torch.compile(model)", "minutes"}}};
}

Verdict LowBandwidth(const KernelMetrics& kernel) {
  return {BottleneckType::kMemoryBandwidth,
          "DRAM throughput",
          kernel.dram_throughput_pct,
          1 - kernel.dram_throughput_pct / 100,
          "its memory is underused",
          StrCat("Memory runs at ", FormatNumber(kernel.dram_throughput_pct, 1),
                 " % of its peak; how much is computed was not measured."),
          {{"coalesce access, and load several values per thread", "", "", "days"}}};
}

Verdict Underused(const KernelMetrics& kernel) {
  const bool critical = kernel.sm_throughput_pct < kLines.sm_throughput_critical_pct;
  return {BottleneckType::kKernelEfficiency,
          "SM throughput",
          kernel.sm_throughput_pct,
          1 - kernel.sm_throughput_pct / 100,
          critical ? "its compute units are critically underused" : "its compute units are underused",
          StrCat("Computing runs at ", FormatNumber(kernel.sm_throughput_pct, 1), " % of the GPU's peak."),
          {{"give the GPU more to do at once: a larger batch, or fewer and larger kernels", fixes::kCompile.Item(),
            "model = torch.compile(model)", "minutes"}}};
}

Verdict LowOccupancy(const KernelMetrics& kernel) {
  return {BottleneckType::kKernelEfficiency,
          "achieved occupancy",
          kernel.achieved_occupancy_pct,
          1 - kernel.achieved_occupancy_pct / 100,
          "low occupancy",
          StrCat("Only ", FormatNumber(kernel.achieved_occupancy_pct, 1),
                 " % of the warps a multiprocessor can hold are resident: too few to hide the latency of memory and "
                 "instructions."),
          {{"use fewer registers or less shared memory per block, or launch more blocks", "", "", "days"}}};
}

Verdict Divergent(const KernelMetrics& kernel) {
  return {BottleneckType::kKernelEfficiency,
          "warp efficiency",
          kernel.warp_efficiency_pct,
          1 - kernel.warp_efficiency_pct / 100,
          "threads of a warp diverge",
          StrCat("Of the threads of a warp ", FormatNumber(kernel.warp_efficiency_pct, 1),
                 " % are active in an executed instruction."),
          {{"let neighbouring threads take the same branch", "", "", "days"}}};
}

}  // namespace

std::vector<Bottleneck> KernelAnalyzer::Analyze(std::span<const KernelMetrics> kernels) {
  std::vector<Bottleneck> all;
  for (const KernelMetrics& kernel : kernels) {
    const bool underused = kernel.sm_throughput_pct < kLines.sm_throughput_pct;  // false for NaN, as all below
    const bool memory = underused && kernel.dram_throughput_pct > kLines.dram_throughput_pct;
    if (memory) all.push_back(Make(kernel, MemoryBound(kernel)));
    if (underused && !memory) all.push_back(Make(kernel, Underused(kernel)));
    if (std::isnan(kernel.sm_throughput_pct) && kernel.dram_throughput_pct < kLines.dram_throughput_low_pct)
      all.push_back(Make(kernel, LowBandwidth(kernel)));
    if (kernel.achieved_occupancy_pct < kLines.achieved_occupancy_pct)
      all.push_back(Make(kernel, LowOccupancy(kernel)));
    if (kernel.warp_efficiency_pct < kLines.warp_efficiency_pct) all.push_back(Make(kernel, Divergent(kernel)));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Bottleneck& a, const Bottleneck& b) { return a.severity > b.severity; });
  return all;
}

}  // namespace gapless::internal
