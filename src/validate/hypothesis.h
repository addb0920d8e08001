// SPDX-License-Identifier: Apache-2.0
// Two-sided tests of independent values: Welch's t and the sign test. validate/rank_tests.h has those by ranks. Steps
// of one process are not independent: the values here are one per process. NaN and infinities are refused.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"

namespace gapless::internal {

struct TTest {
  double difference = 0;  // mean of x less mean of y, or the mean of one sample
  double statistic = 0;
  double df = 0;
  double p = 0;              // two-sided
  double low = 0, high = 0;  // interval of the difference
};

// Welch 1947, with the degrees of freedom of Satterthwaite 1946. Refused: fewer than two values on a side, no spread on
// either.
Result<TTest> WelchTest(std::span<const double> x, std::span<const double> y, double level = 0.95);

// Student 1908: is the mean of `differences` (of pairs, say) zero? Refused: fewer than two values, no spread.
Result<TTest> OneSampleTTest(std::span<const double> differences, double level = 0.95);

struct SignTest {
  int64_t positive = 0, negative = 0;  // zeros are left out (Dixon and Mood 1946)
  double p = 1;                        // two-sided, exact
};
Result<SignTest> TestSigns(std::span<const double> differences);

}  // namespace gapless::internal
