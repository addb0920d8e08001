// SPDX-License-Identifier: Apache-2.0
// The range of values that a chart of a trend spans, and the label of its axis.
#pragma once

#include <string>
#include <vector>

#include "proof/trend.h"
#include "report/trend/words.h"

namespace gapless::internal {

// The axis of one metric. All values are in the metric's own unit.
struct TrendView {
  double low = 0, high = 1;  // low < high, finite
  ShownUnit unit{};
  std::vector<double> ticks{};  // ascending, within
  double step = 1;              // between ticks

  // Returns 0 at the low end of the axis and 1 at the high one; outside of it below 0 or above 1. Halves keep the
  // difference finite.
  double ShareOf(double value) const { return (value / 2 - low / 2) / (high / 2 - low / 2); }
  // Returns the label of a tick in the shown unit, with as many decimals as the step between ticks needs.
  std::string TickText(double tick) const;
};

// All values and levels with some room; of outliers that are much further away than the rest, only the nearer ones. The
// trend has points.
TrendView ViewOf(const Trend& trend);

}  // namespace gapless::internal
