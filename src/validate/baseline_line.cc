// SPDX-License-Identifier: Apache-2.0
// Least squares on values that are pulled in to 3.5 robust standard deviations around their median.
#include "validate/baseline_line.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gapless::internal {
namespace {

constexpr size_t kLineRuns = 100;
constexpr double kFarthest = 10;  // standard deviations that a single run counts for
constexpr double kFewRuns = 4;    // runs whose errors are as uncertain as they are large; found with agreement.cc's

std::span<const double> Newest(std::span<const double> baseline) {
  return baseline.last(std::min(baseline.size(), kLineRuns));
}

}  // namespace

BaselineLine LineThrough(std::span<const double> baseline) {
  const std::span<const double> near = Newest(baseline);
  const double floor_sd = std::max(1e-9, ResolutionFloor(baseline)), n = static_cast<double>(near.size());
  const double spread = n * (n * n - 1) / 12;
  BaselineLine line{.middle = (n - 1) / 2, .runs = n, .noise = {}};
  const std::vector<double> y = WinsoriseAroundMedian(near, 3.5, floor_sd);
  for (size_t i = 0; i < y.size(); ++i) {
    line.level += y[i] / n;
    line.slope += (static_cast<double>(i) - line.middle) * y[i] / spread;
  }
  std::vector<double> rest(near.begin(), near.end());
  for (size_t i = 0; i < rest.size(); ++i) rest[i] -= line.level + line.slope * (static_cast<double>(i) - line.middle);
  line.noise = NoiseByResiduals(WinsoriseAroundMedian(rest, 3.5, floor_sd), {}, floor_sd);
  line.slope_error = line.noise.sd * std::sqrt(line.noise.LongRunRatio() / spread);
  return line;
}

double DistanceFromLine(const BaselineLine& line, std::span<const double> window) {
  const double ahead = line.middle + (static_cast<double>(window.size()) + 1) / 2;
  const double sd = line.noise.sd, slope_error = line.slope_error / sd * ahead;
  double sum = 0;
  for (const double v : window) sum += std::clamp((v - line.level - line.slope * ahead) / sd, -kFarthest, kFarthest);
  const double variance = line.noise.MeanVariance(window.size()) +
                          line.noise.MeanVariance(static_cast<size_t>(line.runs)) + slope_error * slope_error;
  return sum / static_cast<double>(window.size()) / std::sqrt(variance) / (1 + kFewRuns / line.runs);
}

double HighestAhead(const BaselineLine& line, std::span<const double> baseline, size_t ahead) {
  const std::span<const double> near = Newest(baseline);
  const double slope = std::max(0.0, line.slope), half = (static_cast<double>(ahead) + 1) / 2;
  double highest = *std::ranges::max_element(baseline);
  for (size_t i = 0; i < near.size(); ++i)
    highest = std::max(highest, near[i] + slope * (static_cast<double>(near.size() - 1 - i) + half));
  return highest;
}

}  // namespace gapless::internal
