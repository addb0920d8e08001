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
  double value = 0;
  std::string commit{};
};

struct Trend {
  std::string metric, unit;
  std::optional<bool> higher_is_better{};  // absent: a change is neither better nor worse
  std::vector<TrendPoint> points{};        // oldest first
  std::vector<ChangePoint> changes{};
  std::optional<Drift> drift{};  // since the last change; absent where there are too few runs
};

enum class TrendChange { kImprovement, kRegression, kChange };
TrendChange KindOf(const Trend& trend, const ChangePoint& change);

// Fills in changes and drift.
void FindTrend(Trend& trend);

}  // namespace gapless::internal
