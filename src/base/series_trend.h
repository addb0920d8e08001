// SPDX-License-Identifier: Apache-2.0
// Does a series of values grow steadily, say the duration of steps or the memory in use? Outliers and noise must not
// make growth, nor hide it, and neither must a single jump, a phase, or what goes up and down again.
//
// The values are cut into groups of equal size, in order, at most kTrendGroups: enough of them to tell an order from
// chance, and few enough that the groups of a hundred noisy values are smooth. A group stands for its median. Over the
// groups: the slope is that of Theil and Sen (the median of the slopes of all pairs), and `rank` is Kendall's tau-a
// (pairs that rise less pairs that fall, over all pairs: 1 if each is above all before it, about 0 of noise).
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace gapless::internal {

inline constexpr size_t kTrendGroups = 24;
inline constexpr size_t kMinTrendPoints = 8;  // of fewer there is no trend

struct SeriesPoint {
  double at = 0, value = 0;
};

struct SeriesTrend {
  std::array<double, 4> quarters{};  // median of each quarter of the points, in order
  double slope = 0;                  // per unit of `at`
  double rank = 0;
};

// Returns the trend of the points, which are in the order of `at`; all zero of fewer than kMinTrendPoints.
SeriesTrend TrendOf(const std::vector<SeriesPoint>& points);

// Returns true if each quarter from `first` on adds at least a part of what all of them add that chance or a single
// jump would not give it (0.1 of the growth, where each of three would add a third), and `rank` is at least 0.6.
bool GrowsSteadily(const SeriesTrend& trend, size_t first = 0);

}  // namespace gapless::internal
