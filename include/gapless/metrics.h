// SPDX-License-Identifier: Apache-2.0
// Figures: of a training that was measured, and, for the analyzers that need no recording, of kernels and of NCCL.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace gapless {

// Measured metrics of one kernel. Percentages are 0–100; NaN and negative counts mean "not measured".
struct KernelMetrics {
  static constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();
  std::string name;
  double share_of_step = kNotMeasured;           // 0–1, of the step's time; NaN: no timeline was recorded
  double sm_throughput_pct = kNotMeasured;       // compute throughput, of the device's peak
  double dram_throughput_pct = kNotMeasured;     // memory throughput, of the device's peak
  double achieved_occupancy_pct = kNotMeasured;  // resident warps, of the most there can be
  double warp_efficiency_pct = kNotMeasured;     // threads active in an executed instruction, of a warp's
  int64_t registers_per_thread = -1;
  int64_t shared_bytes_per_block = -1;
};

// Lines from which a kernel's metric is worth a word, percent.
struct KernelThresholds {
  double sm_throughput_pct = 60;           // below: the compute side is underused …
  double sm_throughput_critical_pct = 40;  // … and critically so
  double achieved_occupancy_pct = 30;      // below: too few warps to hide latency
  double warp_efficiency_pct = 80;         // below: threads of a warp diverge
  double dram_throughput_pct = 80;         // above, while compute is underused: bound by memory
  double dram_throughput_low_pct = 60;     // below, where compute was not measured: memory is underused, too
};

// The figures of a training. Absent is not measured. `_gb` is 1e9 bytes, utilisation 0 to 100.
struct PerformanceMetrics {
  std::optional<double> samples_per_second{}, gpu_utilization{}, memory_usage_gb{}, multi_gpu_scaling_efficiency{};
  double step_time_ms = 0;  // mean
  std::optional<double> step_time_p50_ms{}, step_time_p95_ms{}, step_time_p99_ms{}, step_time_std_ms{};
  std::optional<double> energy_j{};
  std::string gpu_utilization_source{}, memory_source{};  // source of each figure; empty: unknown
  // Energy of a step, and samples for a joule, of all GPUs that did work; by energy counters only.
  std::optional<double> joules_per_step{}, samples_per_joule{};
};

// Figures of a job on several GPUs. Times in ns.
struct NcclMetrics {
  int64_t total_step_ns = 0;                      // length of a step; 0: not known
  int64_t nccl_ns = 0;                            // part of that time spent in NCCL kernels
  std::vector<int64_t> rank_step_ns{};            // by rank: its own time per step, waiting left out; empty: not known
  std::optional<double> single_gpu_throughput{};  // samples per second of one GPU alone …
  std::optional<double> total_throughput{};       // … and of all together, with the same batch per GPU
};

}  // namespace gapless
