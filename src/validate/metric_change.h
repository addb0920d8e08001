// SPDX-License-Identifier: Apache-2.0
// Decides whether a number that a program prints at its end, an accuracy say, is still the same after a change of the
// program. Two-sided: which way is worse is not known.
//
// The number is held to its own noise: to what runs of the unchanged program differ by. Runs that all print the same
// show no noise; a change that promises the same bits must then print it too, and any other stays within a floor.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace gapless::internal {

// One unchanged program in a hundred looks changed by noise alone.
inline constexpr double kMetricAlpha = 0.01;
// The share of the number that is no change, unless the program must stay the same bit for bit: arithmetic that rounds
// differently moves a result that repeats exactly by some of its last digits.
inline constexpr double kMetricFloor = 0.01;
// From as many pairs on their differences are used rather than the spread of single runs.
inline constexpr size_t kMinMetricPairs = 3;

enum class MetricBasis {
  kExact,  // all runs without the change print one number, and the change must print it, too
  kFloor,  // kMetricFloor of the number: the noise is smaller than that, or one run alone shows none
  kNoise,  // Student's t interval of what runs differ by
};

struct MetricChange {
  // Means over the runs without and with the change; where all of those without are equal, the value that is furthest.
  double before = 0, after = 0;
  double allowed = 0;  // a larger difference is a change
  MetricBasis basis = MetricBasis::kFloor;
  size_t runs_before = 0, runs_after = 0;
  bool changed = false;  // always, where a run with the change prints a number that is not finite
};

// Compares runs with a change with runs without it. A difference of means is held to Student's t interval of the spread
// of `before`; where all of `before` are equal, each value of `after` to the floor. Values of `before` that are not
// finite are left out. Absent without a value in one of them.
std::optional<MetricChange> ChangeOfMetric(std::span<const double> before, std::span<const double> after, bool exact);

// The same of pairs of runs, `before[i]` beside `after[i]`, by Student's t interval of their differences. Fewer than
// kMinMetricPairs pairs, or `before` that are all equal, are compared as above. Both have the same length.
std::optional<MetricChange> ChangeOfMetricPairs(std::span<const double> before, std::span<const double> after,
                                                bool exact);

// A sentence without a full stop: "0.905 after 0.91 (2 and 6 runs); a difference of more than 0.0091 would be a change:
// 1 % of it, the floor".
std::string MetricWords(const MetricChange& change);

}  // namespace gapless::internal
