// SPDX-License-Identifier: Apache-2.0
// Computes the range of a chart of a trend. Outliers far from the other values do not widen the range.
//
// The range spans the middle 95 % of the values and all levels; further values widen it by at most three times that
// span. All arithmetic keeps within the range of doubles, because a history may hold any finite number.
#include "report/trend/view.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gapless::internal {
namespace {

constexpr double kHeadroom = 0.08, kTail = 0.025, kFar = 3.0;  // shares of the range
constexpr double kLargest = std::numeric_limits<double>::max() / 4;
constexpr double kSmallest = 1e-305;  // below it, quotients lose their digits

// Returns the quantile of sorted values at `share`, the nearest value.
double Quantile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<size_t>(std::llround(share * static_cast<double>(sorted.size() - 1)))];
}

}  // namespace

// A flat series gets some room in either direction, so that its line is in the middle.
TrendView ViewOf(const Trend& trend) {
  std::vector<double> sorted;
  for (const TrendPoint& point : trend.points) sorted.push_back(std::clamp(point.value, -kLargest, kLargest));
  std::sort(sorted.begin(), sorted.end());
  double near_low = Quantile(sorted, kTail), near_high = Quantile(sorted, 1 - kTail);
  for (const TrendLevel& level : trend.levels) {
    near_low = std::min(near_low, level.value);
    near_high = std::max(near_high, level.value);
  }
  const double far = (near_high - near_low) * kFar;
  TrendView view;
  view.low = near_high > near_low ? std::max(sorted.front(), near_low - far) : sorted.front();
  view.high = near_high > near_low ? std::min(sorted.back(), near_high + far) : sorted.back();
  const double size = std::max(std::abs(view.low), std::abs(view.high));
  // A range that doubles of this size hardly resolve counts as flat.
  const bool flat = view.high - view.low <= std::max(size * 1e-12, kSmallest);
  const double room = flat ? (size > kSmallest ? size : 1) * kHeadroom : (view.high - view.low) * kHeadroom;
  view.low -= room, view.high += room;
  view.unit = ShownUnitOf(size, trend.unit);
  view.ticks = TicksWithin(view.low, view.high);
  return view;
}

}  // namespace gapless::internal
