// SPDX-License-Identifier: Apache-2.0
// Estimates standard deviation and AR(1) coefficient after winsorising around a running median.
#include "validate/series_noise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "validate/summary.h"

namespace gapless::internal {
namespace {

constexpr size_t kScaleWindows = 5;  // number of windows that the spread is taken over

double RobustDeviation(std::vector<double> distances) {
  for (double& d : distances) d = std::fabs(d);
  return kMadToSd * MedianInPlace(distances);
}

}  // namespace

double SeriesNoise::MeanVariance(size_t n) const {
  const double count = static_cast<double>(n);
  const double power = std::pow(phi, count);
  return ((1 + phi) / (1 - phi) - 2 * phi * (1 - power) / (count * (1 - phi) * (1 - phi))) / count;
}

double CredibleDependence(double phi, size_t n) {
  constexpr double kPrior = 10, kLeastErrors = 1.3;
  const double count = static_cast<double>(n);
  phi *= count / (count + kPrior);
  return phi < kLeastErrors / std::sqrt(count) ? 0 : phi;
}

std::vector<double> RunningMedian(std::span<const double> values, size_t window) {
  const size_t n = values.size(), half = window / 2;
  std::vector<double> medians(n), around;
  for (size_t i = 0; i < n; ++i) {
    const size_t low = i < half ? 0 : i - half, high = std::min(n, i + half + 1);
    around.assign(values.begin() + static_cast<std::ptrdiff_t>(low),
                  values.begin() + static_cast<std::ptrdiff_t>(high));
    medians[i] = MedianInPlace(around);
  }
  return medians;
}

std::vector<double> Winsorise(std::span<const double> values, size_t window, double limit, double floor_sd) {
  std::vector<double> y = RunningMedian(values, window), distances(values.size());
  for (size_t i = 0; i < y.size(); ++i) distances[i] = std::fabs(values[i] - y[i]);
  const std::vector<double> nearby = RunningMedian(distances, kScaleWindows * window);
  const double least = std::max(RobustDeviation(distances), floor_sd);
  for (size_t i = 0; i < y.size(); ++i) {
    const double most = limit * std::max(least, kMadToSd * nearby[i]);
    y[i] += std::clamp(values[i] - y[i], -most, most);
  }
  return y;
}

std::vector<double> WinsoriseAroundMedian(std::span<const double> values, double limit, double floor_sd) {
  std::vector<double> y(values.begin(), values.end());
  const double median = MedianInPlace(y);
  for (size_t i = 0; i < y.size(); ++i) y[i] = values[i] - median;
  const double most = limit * std::max(RobustDeviation(y), floor_sd);
  for (double& v : y) v = median + std::clamp(v, -most, most);
  return y;
}

double ResolutionFloor(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end(), ComesBefore);
  if (sorted.empty()) return 0;
  const double largest = std::max(std::fabs(sorted.front()), std::fabs(sorted.back()));
  const double digits = largest * 1e-12 + std::numeric_limits<double>::min();
  std::vector<double> steps;
  for (size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i] - sorted[i - 1] > digits) steps.push_back(sorted[i] - sorted[i - 1]);
  if (steps.empty() || 2 * (steps.size() + 1) > sorted.size()) return digits;
  return std::max(digits, *std::min_element(steps.begin(), steps.end()) / 2);
}

double SdByDifferences(std::span<const double> values, double floor_sd) {
  std::vector<double> differences;
  for (size_t i = 1; i < values.size(); ++i) differences.push_back(values[i] - values[i - 1]);
  if (differences.empty()) return floor_sd;
  const double robust = RobustDeviation(differences);
  const double most = robust > 0 ? 3.5 * robust : std::numeric_limits<double>::infinity();
  double sum = 0;
  for (const double d : differences) sum += std::min(d * d, most * most);
  return std::max(floor_sd, std::sqrt(sum / static_cast<double>(differences.size()) / 2));
}

SeriesNoise NoiseByResiduals(std::span<const double> values, std::span<const size_t> starts, double floor_sd) {
  const size_t n = values.size();
  double squares = 0, products = 0, fitted = 0;
  for (size_t k = 0, begin = 0; k <= starts.size() && begin < n; ++k) {
    const size_t end = k < starts.size() ? starts[k] : n;
    double mean = 0, before = 0;
    for (size_t i = begin; i < end; ++i) mean += values[i];
    mean /= static_cast<double>(end - begin);
    for (size_t i = begin; i < end; ++i) {
      const double rest = values[i] - mean;
      squares += rest * rest;
      if (i > begin) products += rest * before;
      before = rest;
    }
    fitted += 1;
    begin = end;
  }
  SeriesNoise noise;
  const double count = static_cast<double>(n), raw = squares > 0 ? products / squares : 0;
  if (squares > 0) noise.phi = std::clamp((raw + fitted / count) / std::max(0.1, 1 - 3 * fitted / count), 0.0, kMaxPhi);
  const double lost = std::min(count - 1, fitted * noise.LongRunRatio());
  noise.sd = n < 2 ? floor_sd : std::max(floor_sd, std::sqrt(squares / (count - lost)));
  return noise;
}

}  // namespace gapless::internal
