// SPDX-License-Identifier: Apache-2.0
// Welch's two-sided t test of independent values; validate/rank_tests.h has those by ranks. Steps of one process are
// not independent: the values here are one per process. NaN and infinities are refused.
#pragma once

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

}  // namespace gapless::internal
