// SPDX-License-Identifier: Apache-2.0
// Computes the Theil-Sen slope of a series and its interval, corrected for autocorrelation. Long series are first
// reduced to medians of stretches.
#include "validate/drift.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "validate/series_noise.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

constexpr size_t kMinValues = 10, kMaxDriftPoints = 1000;
constexpr double kTwoSided95 = 1.959964;  // normal quantile of 97.5 %

struct Point {
  double at, value;
};

std::vector<Point> Points(std::span<const double> values) {
  std::vector<Point> points;
  for (size_t i = 0; i < values.size(); ++i)
    if (std::isfinite(values[i])) points.push_back({static_cast<double>(i), values[i]});
  if (points.size() <= kMaxDriftPoints) return points;
  std::vector<Point> stretches;
  for (size_t k = 0; k < kMaxDriftPoints; ++k) {
    const size_t begin = k * points.size() / kMaxDriftPoints, end = (k + 1) * points.size() / kMaxDriftPoints;
    std::vector<double> at, value;
    for (size_t i = begin; i < end; ++i) {
      at.push_back(points[i].at);
      value.push_back(points[i].value);
    }
    stretches.push_back({MedianInPlace(at), MedianInPlace(value)});
  }
  return stretches;
}

std::vector<double> Slopes(std::span<const Point> points) {
  std::vector<double> slopes;
  slopes.reserve(points.size() * (points.size() - 1) / 2);
  for (size_t i = 0; i < points.size(); ++i)
    for (size_t j = i + 1; j < points.size(); ++j)
      slopes.push_back((points[j].value - points[i].value) / (points[j].at - points[i].at));
  std::sort(slopes.begin(), slopes.end(), ComesBefore);
  return slopes;
}

}  // namespace

std::optional<Drift> FindDrift(std::span<const double> values) {
  const std::vector<Point> points = Points(values);
  if (points.size() < kMinValues) return std::nullopt;
  const std::vector<double> slopes = Slopes(points);
  const double n = static_cast<double>(points.size()), pairs = static_cast<double>(slopes.size());
  Drift drift;
  drift.slope = slopes.size() % 2 == 1 ? slopes[slopes.size() / 2]
                                       : (slopes[slopes.size() / 2 - 1] + slopes[slopes.size() / 2]) / 2;
  std::vector<double> rest, level;
  for (const Point& point : points) {
    rest.push_back(point.value - drift.slope * point.at);
    level.push_back(point.value);
  }
  const std::vector<double> pulled_in = WinsoriseAroundMedian(rest, 3.5, ResolutionFloor(rest));
  const SeriesNoise noise = NoiseByResiduals(pulled_in, {}, ResolutionFloor(rest));
  drift.phi = noise.phi;
  const double wide = kTwoSided95 * std::sqrt(n * (n - 1) * (2 * n + 5) / 18 * noise.LongRunRatio());
  const double first = std::floor((pairs - wide) / 2), last = std::ceil((pairs + wide) / 2);
  drift.low = slopes[IndexAt(first, slopes.size() - 1)];
  drift.high = slopes[IndexAt(last, slopes.size() - 1)];
  // Differences of numbers near the range limits overflow to infinity.
  if (!std::isfinite(drift.slope) || !std::isfinite(drift.low) || !std::isfinite(drift.high)) return std::nullopt;
  const double median = MedianInPlace(level);
  if (median != 0) drift.relative = drift.slope / std::fabs(median);
  return drift;
}

}  // namespace gapless::internal
