// SPDX-License-Identifier: Apache-2.0
// The range of values that a chart of a trend spans, and the label of its axis.
#pragma once

#include <string>

#include "proof/trend.h"
#include "report/svg.h"
#include "report/trend/words.h"

namespace gapless::internal {

// The axis of one metric. All values are in the metric's own unit.
struct TrendView {
  double low = 0, high = 1;  // low < high, finite
  ShownUnit unit{};
  Ticks ticks{};

  // Returns the label of a tick in the shown unit.
  std::string LabelOf(double tick) const { return TickText(tick / unit.size, ticks.step / unit.size); }
};

// All values and levels with some room; of outliers that are much further away than the rest, only the nearer ones. The
// trend has points.
TrendView ViewOf(const Trend& trend);

}  // namespace gapless::internal
