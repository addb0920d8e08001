// SPDX-License-Identifier: Apache-2.0
// Compares the losses of runs with and without a fix.
#include "optimize/results.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"

namespace gapless::internal {
std::optional<size_t> FirstLostLoss(std::span<const RunSample> without, std::span<const RunSample> with) {
  const auto finite_before = [&](size_t step) {
    return !without.empty() && std::ranges::all_of(without, [&](const RunSample& sample) {
      return step < sample.losses.size() && std::isfinite(sample.losses[step]);
    });
  };
  for (const RunSample& sample : with) {
    const bool sees_losses = std::ranges::any_of(sample.losses, [](double loss) { return std::isfinite(loss); });
    for (size_t step = 0; sees_losses && step < sample.losses.size(); ++step)
      if (!std::isfinite(sample.losses[step]) && finite_before(step)) return step;
  }
  return std::nullopt;
}

std::string MemoryObjection(const RunSample& sample, std::optional<double> limit_bytes) {
  constexpr double kMaxUsedShare = 0.9;
  if (!limit_bytes || !sample.gpu_memory_bytes || *sample.gpu_memory_bytes <= kMaxUsedShare * *limit_bytes) return "";
  return StrCat("it leaves less than a tenth of the GPU's memory free: ",
                FormatBytes(static_cast<int64_t>(*sample.gpu_memory_bytes)), " in use");
}

}  // namespace gapless::internal
