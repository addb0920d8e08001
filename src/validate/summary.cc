// SPDX-License-Identifier: Apache-2.0
// Implements mean, standard deviation, quantiles and robust deviations. Sums are compensated (Neumaier 1974), so that
// an offset costs no digits.
#include "validate/summary.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr double kExactMadToSd = 1.4826022185056018;  // 1 / the normal quantile of 3/4

template <class F>
double SumOf(std::span<const double> sample, F&& value_of) {
  double sum = 0, lost = 0;
  for (const double x : sample) {
    const double value = value_of(x);
    const double next = sum + value;
    lost += std::abs(sum) >= std::abs(value) ? (sum - next) + value : (value - next) + sum;
    sum = next;
  }
  return sum + lost;
}

}  // namespace

Result<void> CheckFinite(std::span<const double> sample) {
  for (size_t i = 0; i < sample.size(); ++i) {
    if (!std::isfinite(sample[i])) return Fail(ErrorCode::kInput, StrCat("value ", i, " of the sample is not finite"));
  }
  return {};
}

std::vector<double> Sorted(std::span<const double> sample) {
  std::vector<double> sorted(sample.begin(), sample.end());
  std::sort(sorted.begin(), sorted.end(), ComesBefore);
  return sorted;
}

std::optional<double> Mean(std::span<const double> sample) {
  if (sample.empty()) return std::nullopt;
  return SumOf(sample, [](double x) { return x; }) / static_cast<double>(sample.size());
}

std::optional<double> StandardDeviation(std::span<const double> sample) {
  if (sample.size() < 2) return std::nullopt;
  const auto n = static_cast<double>(sample.size());
  const double mean = *Mean(sample);
  const double squares = SumOf(sample, [mean](double x) { return (x - mean) * (x - mean); });
  const double rest = SumOf(sample, [mean](double x) { return x - mean; });
  return std::sqrt(std::max(0.0, (squares - rest * rest / n) / (n - 1)));
}

double QuantileOfSorted(std::span<const double> sorted, double p) {
  const double place = std::clamp(p, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const size_t below = IndexAt(place, sorted.size() - 1);
  if (below + 1 >= sorted.size()) return sorted.back();
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[below + 1] - sorted[below]);
}

std::optional<double> Quantile(std::span<const double> sample, double p) {
  if (sample.empty() || !(p >= 0 && p <= 1)) return std::nullopt;
  return QuantileOfSorted(Sorted(sample), p);
}

double MedianInPlace(std::span<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end(), ComesBefore);
  if (values.size() % 2 == 1) return *middle;
  const double below = *std::max_element(values.begin(), middle, ComesBefore);
  return below + (*middle - below) / 2;
}

std::optional<double> Median(std::span<const double> sample) {
  if (sample.empty()) return std::nullopt;
  std::vector<double> copy(sample.begin(), sample.end());
  return MedianInPlace(copy);
}

std::optional<double> MedianAbsoluteDeviation(std::span<const double> sample) {
  const auto median = Median(sample);
  if (!median) return std::nullopt;
  std::vector<double> deviations;
  deviations.reserve(sample.size());
  for (const double x : sample) deviations.push_back(std::abs(x - *median));
  return kExactMadToSd * *Median(deviations);
}

Result<Summary> Summarize(std::span<const double> sample) {
  GAPLESS_TRY(CheckFinite(sample));
  Summary s;
  s.n = sample.size();
  if (sample.empty()) return s;
  const auto sorted = Sorted(sample);
  s.mean = Mean(sample);
  s.sd = StandardDeviation(sample);
  s.min = sorted.front();
  s.max = sorted.back();
  s.median = Median(sample);
  s.mad = MedianAbsoluteDeviation(sample);
  s.p5 = QuantileOfSorted(sorted, 0.05);
  s.p25 = QuantileOfSorted(sorted, 0.25);
  s.p75 = QuantileOfSorted(sorted, 0.75);
  s.p95 = QuantileOfSorted(sorted, 0.95);
  s.p99 = QuantileOfSorted(sorted, 0.99);
  if (s.sd && *s.mean != 0) s.variation = *s.sd / std::abs(*s.mean);
  return s;
}

}  // namespace gapless::internal
