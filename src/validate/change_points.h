// SPDX-License-Identifier: Apache-2.0
// Finds the changes of level in a history: one value per commit or run, oldest first.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace gapless::internal {

struct ChangePointOptions {
  size_t min_segment = 5;       // values a level needs; fewer are outliers
  double penalty = 2.6;         // penalty of a change, times ln n, the noise's variance and its long-run ratio
  double min_deviations = 3.8;  // minimum size of a change, in standard errors of the difference between the two levels
  double min_place_share = 0.3;  // minimum share of a change's likelihood within `tolerance` of its index
  size_t tolerance = 5;
  double min_relative = 0.005;  // changes smaller than this share of the level before are not reported
};

struct ChangePoint {
  size_t index = 0;                       // index of the first value at the new level
  size_t first = 0, last = 0;             // it lies within, with 95 % confidence if it is one
  double before = 0, after = 0;           // mean levels, outliers pulled in
  std::optional<double> relative_change;  // (after - before) / |before|; absent when before is 0
  double deviations = 0;                  // |after - before| in standard errors, dependence counted in
  double place_share = 0;                 // share of the likelihood within the tolerance of index
};

// Ascending by index. Values that are not finite are left out; indices count them. A pure function; 20,000 values take
// milliseconds. How well it does, and what it cannot see: docs/CHANGE_POINTS.md.
std::vector<ChangePoint> FindChangePoints(std::span<const double> values, const ChangePointOptions& options = {});

}  // namespace gapless::internal
