// SPDX-License-Identifier: Apache-2.0
#include "base/series_trend.h"

#include <algorithm>
#include <span>

#include "base/order_statistics.h"

namespace gapless::internal {
namespace {

constexpr double kMinQuarter = 0.1, kMinRank = 0.6;

// Returns the median of the part with number `i` of `parts` equal ones.
SeriesPoint MedianPoint(std::span<const SeriesPoint> points, size_t i, size_t parts) {
  const size_t first = points.size() * i / parts, last = points.size() * (i + 1) / parts;
  std::vector<double> at, values;
  for (const SeriesPoint& point : points.subspan(first, last - first))
    at.push_back(point.at), values.push_back(point.value);
  return {MedianOf(at), MedianOf(values)};
}

}  // namespace

SeriesTrend TrendOf(const std::vector<SeriesPoint>& points) {
  SeriesTrend trend;
  if (points.size() < kMinTrendPoints) return trend;
  for (size_t i = 0; i < trend.quarters.size(); ++i)
    trend.quarters[i] = MedianPoint(points, i, trend.quarters.size()).value;
  const size_t count = std::min(points.size(), kTrendGroups);
  std::vector<SeriesPoint> groups;
  for (size_t i = 0; i < count; ++i) groups.push_back(MedianPoint(points, i, count));
  std::vector<double> slopes;
  int rises = 0;
  for (size_t i = 0; i < count; ++i)
    for (size_t j = i + 1; j < count; ++j) {
      const double by = groups[j].value - groups[i].value, apart = groups[j].at - groups[i].at;
      rises += by > 0 ? 1 : by < 0 ? -1 : 0;
      if (apart > 0) slopes.push_back(by / apart);
    }
  if (!slopes.empty()) trend.slope = MedianOf(slopes);
  trend.rank = static_cast<double>(rises) / (static_cast<double>(count * (count - 1)) / 2);
  return trend;
}

bool GrowsSteadily(const SeriesTrend& trend, size_t first) {
  const double growth = trend.quarters.back() - trend.quarters[first];
  if (!(growth > 0) || trend.slope <= 0 || trend.rank < kMinRank) return false;
  for (size_t i = first + 1; i < trend.quarters.size(); ++i)
    if (trend.quarters[i] - trend.quarters[i - 1] < kMinQuarter * growth) return false;
  return true;
}

}  // namespace gapless::internal
