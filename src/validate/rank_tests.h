// SPDX-License-Identifier: Apache-2.0
// Two-sided tests by ranks, the shift that belongs to them, and Student's where values are too few for ranks. For
// independent values, one per process; NaN and infinities are refused.
#pragma once

#include <optional>
#include <span>

#include "base/result.h"

namespace gapless::internal {

struct RankTest {
  double statistic = 0;
  double p = 1;  // two-sided
  bool exact = false;
};

// Mann and Whitney 1947. The statistic is U of x: the pairs in which x is greater, ties counting one half. Exact when
// there are no ties, the smaller sample has at most 8 values and the larger at most 1,000; otherwise normal, corrected
// for ties and continuity (Lehmann 1975, section 1.4). Refused: an empty sample.
Result<RankTest> MannWhitney(std::span<const double> x, std::span<const double> y);

// Wilcoxon 1945 on differences of pairs; zeros are left out. The statistic is the lesser of the two rank sums. Exact up
// to 50 values without ties or zeros; otherwise normal with the correction for ties, without one for continuity.
// Refused: no difference other than zero.
Result<RankTest> SignedRank(std::span<const double> differences);

struct Shift {
  double estimate = 0;
  // The distribution-free interval that belongs to the rank test; absent when the values are too few for the level.
  std::optional<double> low, high;
};

// Hodges and Lehmann 1963: the median of all means of two values (each with itself included), of differences of pairs;
// and the median of all differences x - y of two samples. Intervals: Hollander and Wolfe 1999, equations 3.30 and 4.30,
// their ranks exact up to 50 values (one sample), or 8 and 1,000 (two), normal above. Refused: empty samples, and more
// than twenty million pairs.
Result<Shift> HodgesLehmann(std::span<const double> differences, double level = 0.95);
Result<Shift> HodgesLehmann(std::span<const double> x, std::span<const double> y, double level = 0.95);

// Student 1908: the mean of the differences of pairs, with the interval for normal ones. For fewer values than the
// ranks have bounds for. Refused: fewer than two.
Result<Shift> StudentShift(std::span<const double> differences, double level = 0.95);

}  // namespace gapless::internal
