// SPDX-License-Identifier: Apache-2.0
// Parts of the diagnosis on their own: by subject, from plain figures, or the worst few with a text of them.
//
// All functions are safe from several threads. Lists are sorted by severity, the worst first.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gapless/bottleneck.h"
#include "gapless/export.h"
#include "gapless/metrics.h"
#include "gapless/run.h"

namespace gapless {

// Verdicts on single kernels from hardware metrics, as a kernel profiler measures them.
struct KernelAnalyzer {
  // The limits that Analyze() applies.
  static constexpr KernelThresholds kThresholds{};

  // One bottleneck per kernel and verdict. Metrics that were not measured say nothing. With `share_of_step` severity
  // follows from it; without, from how far the metric is from full.
  GAPLESS_API static std::vector<Bottleneck> Analyze(std::span<const KernelMetrics> kernels);
};

// Finds the time that the job waits for its data.
struct DataLoadingAnalyzer {
  // Waiting for batches, with iterator, settings and line, long gaps, and loading that takes longer than the GPU works;
  // and copies to the device that take more than half of the step.
  GAPLESS_API static std::vector<Bottleneck> Analyze(const Run& run);
};

// Finds the time that several GPUs lose to each other. Needs at least two GPUs; finds nothing for fewer.
struct MultiGPUAnalyzer {
  // From a recording: exposed communication, ranks that wait for a slower one, small collectives. `num_gpus`: GPUs of
  // the job, which a recording of some ranks does not show.
  GAPLESS_API static std::vector<Bottleneck> Analyze(const Run& run, int num_gpus);
  // From figures alone: communication above a tenth of the step, ranks whose times differ by more than a tenth, and
  // scaling efficiency below 0.9.
  GAPLESS_API static std::vector<Bottleneck> Analyze(const NcclMetrics& metrics, int num_gpus);
  // Throughput of all over num_gpus times that of one; absent when either is not known or no number above 0.
  GAPLESS_API static std::optional<double> ScalingEfficiency(const NcclMetrics& metrics, int num_gpus);
};

// The worst findings of all rules, and a text of them.
struct BottleneckAnalyzer {
  static constexpr size_t kMax = 5;
  // Returns the findings of all rules, at most kMax, by severity (Run::Diagnose ranks by expected gain instead).
  GAPLESS_API static std::vector<Bottleneck> AnalyzeAll(const Run& run);
  // "Critical Issues (severity >0.7)", "Warnings (severity 0.4-0.7)" with evidence and recommendations, and "Estimated
  // Performance Improvement": the factor if all given ones were cured, as `analyze` plans them. What is part of another
  // that is given, too, is not counted twice, nor is what would change the training. Milder ones count in the estimate
  // only.
  GAPLESS_API static std::string GenerateReport(std::span<const Bottleneck> bottlenecks);
};

}  // namespace gapless
