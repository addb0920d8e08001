// SPDX-License-Identifier: Apache-2.0
// Kernels that a profiler of kernels measured and that wait for device memory. See kernel_metrics.cc.
#include "diagnose/kernel_analyzer.h"
#include "diagnose/rule.h"

namespace gapless::internal::kernel_memory_rule {
namespace {

constexpr std::string_view kNeeds[] = {"kernel_hot_lines", "kernel_limits", "kernel_roofline", "ledger",
                                       "measured_kernels"};

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  return KernelVerdicts(tables, BottleneckType::kMemoryBandwidth);
}

}  // namespace

RULE(kernel_memory) = {
    .id = "kernel_memory",
    .type = BottleneckType::kMemoryBandwidth,
    .title = "Measured kernels are bound by memory bandwidth",
    .why =
        "Hardware metrics of Nsight Compute: device memory above 80 % of its peak while compute throughput is below "
        "60 %. Where the kernel is found in a timeline by name, grid and block, its severity follows from its share of "
        "the analysed time, reported at 1 % or more; without a timeline it is metric/100. The five worst are reported, "
        "each "
        "with where it stands under the roofs of its GPU, where FLOPs and bytes were counted.",
    .saves = "0; half of what the costliest limit can cost; all of that",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::kernel_memory_rule
