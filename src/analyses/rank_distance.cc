// SPDX-License-Identifier: Apache-2.0
#include "analyses/rank_distance.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gapless::internal {

std::map<int64_t, double> DistancesFromMedian(const RanksRows& ranks) {
  std::vector<double> all;
  for (size_t row = 0; row < ranks.rows(); ++row) all.push_back(ranks.Real(row, "own_per_step_ns"));
  if (all.empty()) return {};
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::ranges::nth_element(all, middle);
  std::map<int64_t, double> distances;
  for (size_t row = 0; row < ranks.rows(); ++row) {
    double& distance = distances[ranks.Int(row, "trace")];
    distance = std::max(distance, std::abs(ranks.Real(row, "own_per_step_ns") - *middle));
  }
  return distances;
}

}  // namespace gapless::internal
