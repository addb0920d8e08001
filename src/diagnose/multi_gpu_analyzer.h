// SPDX-License-Identifier: Apache-2.0
// What several GPUs lose to each other: from tables, or from a few plain figures.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyses/analysis.h"
#include "diagnose/bottleneck.h"

namespace gapless::internal {

// Figures of a job without its recording. Times in ns.
struct NcclMetrics {
  int64_t total_step_ns = 0;                      // length of a step; 0: not known
  int64_t nccl_ns = 0;                            // of it, time in NCCL kernels
  std::vector<int64_t> rank_step_ns{};            // by rank: its own time per step, waiting left out; empty: not known
  std::optional<double> single_gpu_throughput{};  // samples per second of one GPU alone …
  std::optional<double> total_throughput{};       // … and of all together, with the same batch per GPU
};

struct MultiGPUAnalyzer {
  static constexpr double kNcclShare = 0.10;          // of the step: communication worth naming (B4)
  static constexpr double kScalingEfficiency = 0.90;  // below: worth naming; with kNcclShare it says the same thing

  // Rules about several GPUs, those that found something, by severity; none for fewer than two GPUs.
  static std::vector<Bottleneck> Analyze(Tables& tables, int num_gpus);
  // From figures alone: communication above kNcclShare of the step, ranks whose times differ by more than a tenth (the
  // slowest is named), and scaling efficiency below kScalingEfficiency. By severity.
  static std::vector<Bottleneck> Analyze(const NcclMetrics& metrics, int num_gpus);
  // Throughput of all over num_gpus times that of one; absent when either is not known or no number above 0.
  static std::optional<double> ScalingEfficiency(const NcclMetrics& metrics, int num_gpus);
};

}  // namespace gapless::internal
