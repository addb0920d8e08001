// SPDX-License-Identifier: Apache-2.0
// The history of one metric: its levels, where they changed and by which commits, and whether it drifts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "validate/change_points.h"
#include "validate/drift.h"

namespace gapless::internal {

struct TrendPoint {
  std::optional<int64_t> unix_ns{};  // absent: a bare series
  double value = 0;                  // finite
  std::string commit{};
};

struct TrendLevel {
  size_t begin = 0, end = 0;  // range of the points at this level, end excluded
  double value = 0;           // their median; where it drifts, not what a change next to it begins or ends with
};

struct DriftLine {
  double from = 0, to = 0;  // at the first and at the last run of the last level
};

enum class TrendChange { kImprovement, kRegression, kChange };

// A Trend is the series of one metric with what was found in it. Indexes count from the oldest point.
struct Trend {
  std::string metric{}, unit{};
  std::optional<bool> higher_is_better{};  // absent: a change is neither better nor worse
  std::vector<TrendPoint> points{};        // oldest first
  size_t other_units = 0;                  // runs left out since their values have another unit

  std::vector<ChangePoint> changes{};
  std::vector<TrendLevel> levels{};       // one more than changes; none without points
  std::optional<Drift> drift{};           // at the last level; absent where there are too few runs
  std::optional<DriftLine> drift_line{};  // when it drifts steadily: without the first and last runs of the level, too
  // Other differences at change i: "driver 550 to 560". Empty, or as long as `changes`.
  std::vector<std::vector<std::string>> also_changed{};
};

// Fills in changes, levels and drift.
void FindTrend(Trend& trend);

TrendChange KindOf(const Trend& trend, const ChangePoint& change);

// Returns the drift over the runs of the last level, as a share of the level. Absent if it is not steady or smaller
// than the smallest reported change. A few runs at either end may begin another level, too short to be recognised.
std::optional<double> DriftWorthTelling(const Trend& trend);
TrendChange KindOf(const Trend& trend, const Drift& drift);

// Commits that may have brought a change: those after the first one up to the last, as `git log FIRST..LAST` lists
// them. Absent: commits are not known, or both are the same, and then none did.
struct ChangedCommits {
  std::string after, up_to;
};
std::optional<ChangedCommits> CommitsOf(const Trend& trend, const ChangePoint& change);
// Runs before and after it are known to be of one commit.
bool IsWithinOneCommit(const Trend& trend, const ChangePoint& change);

}  // namespace gapless::internal
