// SPDX-License-Identifier: Apache-2.0
// Kernels that a profiler of kernels measured and that use the GPU badly. The thresholds and the verdicts are those of
// KernelAnalyzer; what holds the kernel back, and how much of its time that can cost, comes from table kernel_limits.
#include "diagnose/kernel_analyzer.h"
#include "diagnose/rule.h"

namespace gapless::internal::kernel_metrics_rule {
namespace {

constexpr std::string_view kNeeds[] = {"kernel_hot_lines", "kernel_limits", "kernel_roofline", "ledger",
                                       "measured_kernels"};

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  return KernelVerdicts(tables, BottleneckType::kKernelEfficiency);
}

}  // namespace

RULE(kernel_metrics) = {
    .id = "kernel_metrics",
    .type = BottleneckType::kKernelEfficiency,
    .title = "Measured kernels leave compute units, warps or threads unused",
    .why =
        "Hardware metrics of Nsight Compute: compute throughput below 60 % of the peak (critical below 40 %), achieved "
        "occupancy below 30 %, fewer than 80 % of a warp's threads active. Where the kernel is found in a timeline by "
        "name, grid and block, its severity follows from its share of the analysed time, reported at 1 % or more; "
        "without a timeline it is 1 - metric/100, times its measured time over that of the longest kernel. The five "
        "worst are reported, each with what costs it most by the checks of Nsight Compute's sections: free issue "
        "slots, reasons for which warps wait, occupancy, the shape of the launch, divergence, imbalance; with where it "
        "stands under the roofs of its GPU, and the line that holds most samples, where these were collected.",
    .saves = "0; half of what the costliest limit can cost; all of that",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::kernel_metrics_rule
