// SPDX-License-Identifier: Apache-2.0
// What processes of a benchmark show in figures, and what disturbed them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trial/process_run.h"

namespace gapless::internal {

// The metrics of docs/BENCHMARKING.md; absent where unknown.
struct BenchMetrics {
  std::optional<double> samples_per_second{}, gpu_utilization{}, memory_usage_gb{}, energy_j{};
  std::string gpu_utilization_source{}, memory_source{};
  double step_time_ms = 0;  // mean
  double p50_ms = 0, p95_ms = 0, p99_ms = 0;
  std::optional<double> std_ms{};
};
// What B needs less than A of memory and energy; below 0: more. Absent where one of them is unknown, or their memory is
// not of the same source.
std::optional<double> MemorySavedGb(const BenchMetrics& a, const BenchMetrics& b);
std::optional<double> EnergySavedJ(const BenchMetrics& a, const BenchMetrics& b);
// Of one process, or of several of the same command: their steps together; where whole processes are measured, a
// process counts as a step.
std::optional<BenchMetrics> MetricsOf(const std::vector<RunSample>& samples);

// What was seen that makes the numbers worse than they need be: other processes, throttling, a changing clock.
std::vector<std::string> NoiseSeen(const RunSample& sample);

}  // namespace gapless::internal
