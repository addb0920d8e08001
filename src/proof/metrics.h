// SPDX-License-Identifier: Apache-2.0
// Computes the metrics of a benchmark's processes, and lists the disturbances that were seen.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gapless/metrics.h"
#include "trial/run_sample.h"

namespace gapless::internal {

// Returns the memory and the energy that B saves against A; below 0: B needs more. Absent if one value is unknown, or
// if the memory values have different sources.
std::optional<double> MemorySavedGb(const PerformanceMetrics& a, const PerformanceMetrics& b);
std::optional<double> EnergySavedJ(const PerformanceMetrics& a, const PerformanceMetrics& b);
// The metrics of `gapless bench --json`. Of one process, or of several of the same command: their steps together; where
// whole processes are measured, a process counts as a step.
std::optional<PerformanceMetrics> MetricsOf(const std::vector<RunSample>& samples);

// Returns the share of the processors that other programs used during the run; 0: it was not recorded.
double BusyElsewhere(const RunSample& sample);
// Did other programs use so much of the processors that a measurement is worth repeating?
inline constexpr double kDisturbedShare = 0.25;
inline bool IsDisturbed(const RunSample& sample) { return BusyElsewhere(sample) >= kDisturbedShare; }

// Returns the disturbances that were seen, a sentence each: other processes, throttling, a changing clock. Empty
// if none was, or if the telemetry was not sampled.
std::vector<std::string> NoiseSeen(const RunSample& sample);

}  // namespace gapless::internal
