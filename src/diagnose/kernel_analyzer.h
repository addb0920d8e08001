// SPDX-License-Identifier: Apache-2.0
// Verdicts on single kernels from hardware metrics, as a kernel profiler measures them: of given metrics, and of table
// measured_kernels as rules report them.
#pragma once

#include <span>
#include <vector>

#include "analyses/analysis.h"
#include "diagnose/bottleneck.h"
#include "gapless/metrics.h"

namespace gapless::internal {

struct KernelAnalyzer {
  static constexpr KernelThresholds kThresholds{};

  // One bottleneck per kernel and verdict, by severity. With `share_of_step` severity is SeverityOfShare; without, how
  // far the metric is from full: 1 − metric/100 (memory bound: metric/100). Metrics that were not measured say nothing.
  static std::vector<Bottleneck> Analyze(std::span<const KernelMetrics> kernels);
};

// Returns the verdicts of KernelAnalyzer on table measured_kernels that are of the type, the worst first: at most five,
// with a kernel's share of the analysed time where it was found in a timeline. A share below kMinMeasuredShare is not
// reported.
std::vector<Bottleneck> KernelVerdicts(Tables& tables, BottleneckType type);

}  // namespace gapless::internal
