// SPDX-License-Identifier: Apache-2.0
// Implements Welch's t test.
#include "validate/hypothesis.h"

#include <algorithm>
#include <cmath>

#include "validate/distributions.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

TTest TTestOf(double difference, double error, double df, double level) {
  TTest test{.difference = difference, .statistic = difference / error, .df = df};
  test.p = std::min(1.0, 2 * StudentUpperTail(std::abs(test.statistic), df));
  const double reach = StudentQuantile(1 - (1 - level) / 2, df) * error;
  test.low = difference - reach;
  test.high = difference + reach;
  return test;
}

Result<void> CheckSample(std::span<const double> sample, double level) {
  GAPLESS_TRY(CheckFinite(sample));
  if (sample.size() < 2) return Fail(ErrorCode::kInput, "a t test needs two values of each sample");
  if (!(level > 0 && level < 1)) return Fail(ErrorCode::kUsage, "the level of an interval must be between 0 and 1");
  return {};
}

Unexpected NoSpread() {
  return Fail(ErrorCode::kInput, "the values do not vary, so a t test has nothing to measure by");
}

}  // namespace

Result<TTest> WelchTest(std::span<const double> x, std::span<const double> y, double level) {
  GAPLESS_TRY(CheckSample(x, level));
  GAPLESS_TRY(CheckSample(y, level));
  const auto nx = static_cast<double>(x.size()), ny = static_cast<double>(y.size());
  const double ex = std::pow(*StandardDeviation(x), 2) / nx, ey = std::pow(*StandardDeviation(y), 2) / ny;
  if (!(ex + ey > 0)) return NoSpread();
  // Shares, so that squares of tiny or huge variances neither vanish nor overflow.
  const double sx = ex / (ex + ey), sy = ey / (ex + ey);
  const double df = 1 / (sx * sx / (nx - 1) + sy * sy / (ny - 1));
  return TTestOf(*Mean(x) - *Mean(y), std::sqrt(ex + ey), df, level);
}

}  // namespace gapless::internal
