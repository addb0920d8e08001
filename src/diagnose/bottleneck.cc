// SPDX-License-Identifier: Apache-2.0
#include "diagnose/bottleneck.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gapless {

std::string_view ToString(BottleneckType type) {
  static constexpr std::array<std::string_view, 13> kNames = {
      "KERNEL_EFFICIENCY", "MEMORY_BANDWIDTH",  "DATA_LOADING", "CPU_GPU_SYNC",
      "MULTI_GPU_COMM",    "MEMORY_ALLOCATION", "LAUNCH_BOUND", "HOST_BOUND",
      "SMALL_BATCH",       "RECOMPILATION",     "IO",           "STEP_VARIATION",
      "RECORDING"};
  return static_cast<size_t>(type) < kNames.size() ? kNames[static_cast<size_t>(type)] : "?";
}

}  // namespace gapless

namespace gapless::internal {

double SeverityOfShare(double share_of_step) {
  constexpr double kScale = 0.15;
  return 1 - std::exp(-std::max(0.0, share_of_step) / kScale);
}

}  // namespace gapless::internal
