// SPDX-License-Identifier: Apache-2.0
// Welch's two-sided t test of independent values, and the power of t tests; validate/rank_tests.h has tests by ranks.
// Steps of one process are not independent: the values here are one per process. NaN and infinities are refused.
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"

namespace gapless::internal {

struct TTest {
  double difference = 0;  // mean of x less mean of y
  double statistic = 0;
  double df = 0;
  double p = 0;              // two-sided
  double low = 0, high = 0;  // interval of the difference
};

// Welch 1947, with the degrees of freedom of Satterthwaite 1946. Refused: fewer than two values on a side, no spread on
// either.
Result<TTest> WelchTest(std::span<const double> x, std::span<const double> y, double level = 0.95);

// The power of a comparison, its minimum detectable effect (MDE) and the n it takes are those of two-sided t tests, by
// the noncentral t distribution (Cohen 1988, section 2; Johnson, Kotz and Balakrishnan 1995, chapter 31), with both
// tails counted.
enum class Design {
  kPaired,    // n pairs; sd is that of the differences
  kTwoSample  // n values on each side, of the same sd
};

struct PowerOptions {
  Design design = Design::kPaired;
  double level = 0.05;  // the two-sided rate of false alarms
  double power = 0.8;
};

// The chance that a test with n pairs (or n a side) finds a true effect, in units of sd. Refused: n below 2, a level or
// power outside (0, 1), an effect or sd that is not finite or negative, an sd of 0.
Result<double> PowerOf(double effect, double sd, size_t n, const PowerOptions& options = {});

// The smallest effect that is found with the power asked for.
Result<double> MinimumDetectableEffect(double sd, size_t n, const PowerOptions& options = {});

// The smallest n with the power asked for. Refused as above, and when it would take more than a million.
Result<size_t> NeededN(double effect, double sd, const PowerOptions& options = {});

}  // namespace gapless::internal
