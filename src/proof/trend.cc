// SPDX-License-Identifier: Apache-2.0
#include "proof/trend.h"

#include <span>

namespace gapless::internal {

TrendChange KindOf(const Trend& trend, const ChangePoint& change) {
  if (!trend.higher_is_better) return TrendChange::kChange;
  return (change.after > change.before) == *trend.higher_is_better ? TrendChange::kImprovement
                                                                   : TrendChange::kRegression;
}

void FindTrend(Trend& trend) {
  std::vector<double> values;
  for (const TrendPoint& point : trend.points) values.push_back(point.value);
  trend.changes = FindChangePoints(values);
  const size_t since = trend.changes.empty() ? 0 : trend.changes.back().index;
  trend.drift = FindDrift(std::span(values).subspan(since));
}

}  // namespace gapless::internal
