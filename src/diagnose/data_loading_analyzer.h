// SPDX-License-Identifier: Apache-2.0
// Does the job wait for its data? The three tests of the request (B3), and the rule data_loading.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyses/analysis.h"
#include "diagnose/bottleneck.h"

namespace gapless::internal {

struct DataLoadingAnalyzer {
  static constexpr int64_t kLongGapNs = 5'000'000;  // a device idle for longer while a batch is made
  static constexpr double kCopyShare = 0.50;        // copies to the device, as a share of the step

  // The inputs of the tests. Times in ns, summed over the devices or their processes; absent where nothing was
  // recorded.
  struct Figures {
    int64_t long_gaps = 0;             // idle gaps with more than kLongGapNs of waiting for a batch
    int64_t longest_gap_ns = 0;        // that part of the longest
    std::optional<int64_t> loader_ns;  // host time in data loaders
    std::optional<int64_t> gpu_ns;     // device time with something running
    std::optional<double> copy_share;  // copies from host to device, of the step
  };
  static Figures FiguresOf(Tables& tables);

  // Returns, by severity, the rule data_loading with iterator, settings and line, joined by the evidence of long gaps
  // and of loading that takes longer than the GPU works; and copies to the device that take more than half of the step.
  static std::vector<Bottleneck> Analyze(Tables& tables);
};

}  // namespace gapless::internal
