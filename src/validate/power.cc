// SPDX-License-Identifier: Apache-2.0
// Computes power, the minimum detectable effect and the needed sample size from the noncentral t distribution.
#include "validate/power.h"

#include <cmath>

#include "validate/distributions.h"

namespace gapless::internal {
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
