// SPDX-License-Identifier: Apache-2.0
// Implements Welch's t test, and computes the power of t tests.
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

// Computes power, the minimum detectable effect and the needed sample size from the noncentral t distribution.

namespace {

constexpr size_t kMaxN = 1'000'000;

Result<void> Check(double effect, double sd, size_t n, const PowerOptions& options) {
  if (!(options.level > 0 && options.level < 1 && options.power > 0 && options.power < 1)) {
    return Fail(ErrorCode::kUsage, "level and power must be between 0 and 1");
  }
  if (n < 2) return Fail(ErrorCode::kInput, "a comparison needs two values");
  if (!std::isfinite(effect) || !std::isfinite(sd) || effect < 0 || sd <= 0) {
    return Fail(ErrorCode::kInput, "an effect must not be negative, and its standard deviation must be positive");
  }
  return {};
}

// Returns the power to detect a standardised effect.
double Power(double standardised, size_t n, const PowerOptions& options) {
  const auto count = static_cast<double>(n);
  const bool is_paired = options.design == Design::kPaired;
  const double df = is_paired ? count - 1 : 2 * (count - 1);
  const double noncentrality = standardised * std::sqrt(is_paired ? count : count / 2);
  const double critical = StudentQuantile(1 - options.level / 2, df);
  // Far out the noncentral t is all on one side, and its series would take long.
  if (noncentrality > critical + 40) return 1;
  return 1 - NoncentralStudentCdf(critical, df, noncentrality) + NoncentralStudentCdf(-critical, df, noncentrality);
}

}  // namespace

Result<double> PowerOf(double effect, double sd, size_t n, const PowerOptions& options) {
  GAPLESS_TRY(Check(effect, sd, n, options));
  return Power(effect / sd, n, options);
}

Result<double> MinimumDetectableEffect(double sd, size_t n, const PowerOptions& options) {
  GAPLESS_TRY(Check(0, sd, n, options));
  double low = 0, high = 1;
  while (Power(high, n, options) < options.power && high < 1e9) high *= 2;
  for (int i = 0; i < 100 && high - low > 1e-12 * high; ++i) {
    const double middle = low + (high - low) / 2;
    (Power(middle, n, options) < options.power ? low : high) = middle;
  }
  return high * sd;
}

Result<size_t> NeededN(double effect, double sd, const PowerOptions& options) {
  GAPLESS_TRY(Check(effect, sd, 2, options));
  const double standardised = effect / sd;
  size_t low = 1, high = 2;  // the power grows with n
  while (Power(standardised, high, options) < options.power) {
    if (high >= kMaxN) return Fail(ErrorCode::kInput, "the effect is too small to be found with a million values");
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    (Power(standardised, middle, options) < options.power ? low : high) = middle;
  }
  if (high > kMaxN) return Fail(ErrorCode::kInput, "the effect is too small to be found with a million values");
  return high;
}

}  // namespace gapless::internal
