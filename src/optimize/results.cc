// SPDX-License-Identifier: Apache-2.0
// Compares losses and printed results of runs with and without a fix.
#include "optimize/results.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr double kMaxSpreads = 3, kMaxShare = 2e-2;

std::vector<double> MetricsOf(std::span<const RunSample> samples) {
  std::vector<double> metrics;
  for (const RunSample& sample : samples)
    if (sample.metric) metrics.push_back(*sample.metric);
  return metrics;
}

}  // namespace

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

std::string MetricObjection(bool exact, std::span<const RunSample> without, std::span<const RunSample> with) {
  const std::vector<double> before = MetricsOf(without), after = MetricsOf(with);
  if (before.empty()) return "";
  if (after.empty()) return "it is no longer printed";
  const auto [low, high] = std::ranges::minmax(before);
  const double share = exact ? 0 : kMaxShare * std::max(std::abs(low), std::abs(high));
  const double allowed = std::max(kMaxSpreads * (high - low), share);
  for (const double value : after)
    if (!(std::max(value - high, low - value) <= allowed))
      return StrCat("it is ", FormatDigits(value, 4), ", and ", FormatDigits(before.back(), 4), " without");
  return "";
}

std::string MemoryObjection(const RunSample& sample, std::optional<double> limit_bytes) {
  constexpr double kMaxUsedShare = 0.9;
  if (!limit_bytes || !sample.gpu_memory_bytes || *sample.gpu_memory_bytes <= kMaxUsedShare * *limit_bytes) return "";
  return StrCat("it leaves less than a tenth of the GPU's memory free: ",
                FormatBytes(static_cast<int64_t>(*sample.gpu_memory_bytes)), " in use");
}

}  // namespace gapless::internal
