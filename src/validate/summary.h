// SPDX-License-Identifier: Apache-2.0
// Describes a sample of numbers. Functions on spans expect finite numbers; a sample from outside goes through
// CheckFinite or Summarize first, which refuse NaN and infinities.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"

namespace gapless::internal {

// Refuses NaN and infinities, naming the first one's place.
Result<void> CheckFinite(std::span<const double> sample);

// The order of numbers for sorting: NaN, which comes of infinities and of numbers at the end of the range, is the last.
// Sorting by `<` alone has no defined end where there is one.
inline bool ComesBefore(double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); }
// The whole number at or below `place` as an index up to `last`; 0 for NaN.
inline size_t IndexAt(double place, size_t last) {
  if (!(place > 0)) return 0;
  return place >= static_cast<double>(last) ? last : static_cast<size_t>(place);
}

std::vector<double> Sorted(std::span<const double> sample);

// Compensated summation (Neumaier 1974), so that an offset of the sample costs no digits. Absent for an empty sample.
std::optional<double> Mean(std::span<const double> sample);
// With n - 1, two passes (Chan, Golub and LeVeque 1983, equation 1.7). Absent below two values.
std::optional<double> StandardDeviation(std::span<const double> sample);
// Type 7 of Hyndman and Fan 1996: linear between order statistics, p in [0, 1]. `sorted` must not be empty.
double QuantileOfSorted(std::span<const double> sorted, double p);
std::optional<double> Quantile(std::span<const double> sample, double p);
std::optional<double> Median(std::span<const double> sample);
// The same of values that may be reordered; 0 of none.
double MedianInPlace(std::span<double> values);
// Standard deviation over median absolute deviation of a normal distribution.
inline constexpr double kMadToSd = 1.4826;
// Median absolute deviation times 1.4826, which estimates the standard deviation of normal data (Hampel 1974).
std::optional<double> MedianAbsoluteDeviation(std::span<const double> sample);

struct Summary {
  size_t n = 0;
  std::optional<double> mean, sd, min, max, median, mad;
  std::optional<double> p5, p25, p75, p95, p99;  // type 7
  std::optional<double> variation;               // coefficient of variation, sd / |mean|; absent where the mean is 0
};

// An empty sample has a summary of absent values; one with NaN or an infinity is refused.
Result<Summary> Summarize(std::span<const double> sample);

}  // namespace gapless::internal
