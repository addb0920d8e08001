// SPDX-License-Identifier: Apache-2.0
// Implements FindTrend(): change points, levels between them, and drift of the last level. Only the last level is
// searched for drift: earlier ones are past. A drift counts as steady only if it also shows without the first and
// last runs of the level, which may belong to a level too short to be found.
#include "proof/trend.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "validate/summary.h"

namespace gapless::internal {
namespace {

// Returns the median between each two changes; one level without changes, none without values.
std::vector<TrendLevel> LevelsOf(const std::vector<double>& values, const std::vector<ChangePoint>& changes) {
  if (values.empty()) return {};
  std::vector<TrendLevel> levels;
  for (size_t i = 0; i <= changes.size(); ++i) {
    const size_t begin = i == 0 ? 0 : changes[i - 1].index, end = i < changes.size() ? changes[i].index : values.size();
    levels.push_back({.begin = begin, .end = end, .value = *Median(std::span(values).subspan(begin, end - begin))});
  }
  return levels;
}

// Returns whether a rise or a fall is good, by the metric's direction.
TrendChange KindOf(const Trend& trend, bool rises) {
  if (!trend.higher_is_better) return TrendChange::kChange;
  return rises == *trend.higher_is_better ? TrendChange::kImprovement : TrendChange::kRegression;
}

// Through the middle of the values, with the drift's slope.
DriftLine LineOf(std::span<const double> values, double slope) {
  std::vector<double> rest;
  for (size_t i = 0; i < values.size(); ++i) rest.push_back(values[i] - slope * static_cast<double>(i));
  const double from = *Median(rest);
  return {.from = from, .to = from + slope * static_cast<double>(values.size() - 1)};
}

// Returns true if the drift also shows without the runs at both ends.
bool IsSteady(std::span<const double> values, const Drift& drift) {
  const size_t end = ChangePointOptions().min_segment - 1;  // as many runs as are no level yet
  if (!drift.Drifts() || values.size() <= 2 * end) return false;
  const auto within = FindDrift(values.subspan(end, values.size() - 2 * end));
  return within && within->Drifts() && (within->slope > 0) == (drift.slope > 0);
}

// The last run that is surely before the change.
size_t Before(const ChangePoint& change) { return change.first == 0 ? 0 : change.first - 1; }

}  // namespace

void FindTrend(Trend& trend) {
  std::erase_if(trend.points, [](const TrendPoint& point) { return !std::isfinite(point.value); });
  std::vector<double> values;
  for (const TrendPoint& point : trend.points) values.push_back(point.value);
  trend.changes = FindChangePoints(values);
  trend.levels = LevelsOf(values, trend.changes);
  trend.drift.reset(), trend.drift_line.reset();
  if (values.empty()) return;
  const auto level = std::span(values).subspan(trend.levels.back().begin);
  trend.drift = FindDrift(level);
  if (trend.drift && IsSteady(level, *trend.drift)) trend.drift_line = LineOf(level, trend.drift->slope);
}

TrendChange KindOf(const Trend& trend, const ChangePoint& change) {
  return KindOf(trend, change.after > change.before);
}
TrendChange KindOf(const Trend& trend, const Drift& drift) { return KindOf(trend, drift.slope > 0); }

std::optional<double> DriftWorthTelling(const Trend& trend) {
  if (!trend.drift_line || !trend.drift->relative) return std::nullopt;
  const TrendLevel& last = trend.levels.back();
  const double all = *trend.drift->relative * static_cast<double>(last.end - last.begin - 1);
  if (std::abs(all) < ChangePointOptions().min_relative) return std::nullopt;
  return all;
}

std::optional<ChangedCommits> CommitsOf(const Trend& trend, const ChangePoint& change) {
  ChangedCommits range{.after = trend.points[Before(change)].commit, .up_to = trend.points[change.last].commit};
  if (range.after.empty() || range.up_to.empty() || range.after == range.up_to) return std::nullopt;
  return range;
}

bool IsWithinOneCommit(const Trend& trend, const ChangePoint& change) {
  const std::string& commit = trend.points[change.index].commit;
  const auto begin = trend.points.begin() + static_cast<std::ptrdiff_t>(Before(change)),
             end = trend.points.begin() + static_cast<std::ptrdiff_t>(change.last + 1);
  return !commit.empty() && std::all_of(begin, end, [&](const TrendPoint& point) { return point.commit == commit; });
}

}  // namespace gapless::internal
