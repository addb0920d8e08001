// SPDX-License-Identifier: Apache-2.0
// Verdicts on single kernels from hardware metrics, as a kernel profiler measures them.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "diagnose/bottleneck.h"

namespace gapless::internal {

// What was measured of one kernel. Percent are 0–100; NaN and negative counts: not measured.
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

// Lines of the request (A4), percent.
struct KernelThresholds {
  double sm_throughput_pct = 60;           // below: the compute side is underused …
  double sm_throughput_critical_pct = 40;  // … and critically so
  double achieved_occupancy_pct = 30;      // below: too few warps to hide latency
  double warp_efficiency_pct = 80;         // below: threads of a warp diverge
  double dram_throughput_pct = 80;         // above, while compute is underused: bound by memory
};

struct KernelAnalyzer {
  static constexpr KernelThresholds kThresholds{};

  // One bottleneck per kernel and verdict, by severity. With `share_of_step` severity is SeverityOfShare; without, how
  // far the metric is from full: 1 − metric/100 (memory bound: metric/100). Metrics that were not measured say nothing.
  static std::vector<Bottleneck> Analyze(std::span<const KernelMetrics> kernels);
};

}  // namespace gapless::internal
