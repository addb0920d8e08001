// SPDX-License-Identifier: Apache-2.0
// What processes of a benchmark show in figures, and what disturbed them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gapless/metrics.h"
#include "trial/process_run.h"

namespace gapless::internal {

// What B needs less than A of memory and energy; below 0: more. Absent where one of them is unknown, or their memory is
// not of the same source.
std::optional<double> MemorySavedGb(const PerformanceMetrics& a, const PerformanceMetrics& b);
std::optional<double> EnergySavedJ(const PerformanceMetrics& a, const PerformanceMetrics& b);
// The metrics of docs/BENCHMARKING.md. Of one process, or of several of the same command: their steps together; where
// whole processes are measured, a process counts as a step.
std::optional<PerformanceMetrics> MetricsOf(const std::vector<RunSample>& samples);

// What was seen that makes the numbers worse than they need be: other processes, throttling, a changing clock.
std::vector<std::string> NoiseSeen(const RunSample& sample);

}  // namespace gapless::internal
