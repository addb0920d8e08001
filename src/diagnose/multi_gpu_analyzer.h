// SPDX-License-Identifier: Apache-2.0
// The time that several GPUs lose to each other: from tables, or from a few plain figures.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analyses/analysis.h"
#include "diagnose/bottleneck.h"
#include "gapless/metrics.h"

namespace gapless::internal {

struct MultiGPUAnalyzer {
  static constexpr double kNcclShare = 0.10;          // share of the step from which communication is named
  static constexpr double kScalingEfficiency = 0.90;  // below: worth naming; with kNcclShare it says the same thing

  // Rules about several GPUs, those that found something, by severity; none for fewer than two GPUs.
  static std::vector<Bottleneck> Analyze(Tables& tables, int num_gpus);
  // From figures alone: communication above kNcclShare of the step, ranks whose times differ by more than a tenth (the
  // slowest is named), and scaling efficiency below kScalingEfficiency. By severity.
  static std::vector<Bottleneck> Analyze(const NcclMetrics& metrics, int num_gpus);
  // Throughput of all over num_gpus times that of one; absent where one of them is not known, or is not above 0.
  static std::optional<double> ScalingEfficiency(const NcclMetrics& metrics, int num_gpus);
};

}  // namespace gapless::internal
