// SPDX-License-Identifier: Apache-2.0
// Shared by the two halves of slow_parts: a part that is slow, and how far a value must be from its peers' to count.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/analysis.h"

namespace gapless::internal::slow_parts_analysis {

// The share of namings that chance may make. The least a part must be behind stands in kLeastShare, kLeastSlower.
inline constexpr double kFalseShare = 0.01;
// A part is behind if it takes this much of a step longer: the line at which rule straggler names a rank.
inline constexpr double kLeastShare = 0.02;
// Links of one kind differ by some percent; a group is slow if its transfers take this much longer.
inline constexpr double kLeastSlower = 1.15;
// The fewest ranks or paths that are compared: of fewer nobody can say which are usual.
inline constexpr size_t kFewestPeers = 4;

struct SlowPart {
  std::string_view part, kind;
  const RunTrace* longest = nullptr;  // the rank that takes longest
  std::vector<int64_t> ranks{};       // in order
  std::string host{}, group{}, what{};
  int64_t late = 0, tried = 0, excess_ns = 0;
  double ratio = 0, q = 0;
  int64_t tests = 0;
};

double MedianOf(std::vector<double> values);
// Returns how far values usually lie from `middle`: 1.4826 times the median distance, which is the standard deviation
// where they are normal and hardly moves for those that lie far out.
double SpreadOf(std::span<const double> values, double middle);
// Benjamini and Hochberg's adjusted values: calling all parts with q ≤ 0.01 makes at most 1 % false ones in the mean,
// also where tests depend on each other positively; where no part is slow at all, one is named in 1 % of jobs.
std::vector<double> AdjustedForMany(std::span<const double> p);

// Parts that are late by their own time, and those whose connections are slow.
std::vector<SlowPart> SlowByOwnTime(Tables& tables);
std::vector<SlowPart> SlowByLinks(Tables& tables);

}  // namespace gapless::internal::slow_parts_analysis
