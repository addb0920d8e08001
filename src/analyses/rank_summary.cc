// SPDX-License-Identifier: Apache-2.0
#include "analyses/rank_summary.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyses/columns.h"
#include "analyses/rows/ranks.h"

namespace gapless::internal {

std::optional<Scaling> ScalingEfficiency(const RanksRows& ranks, std::optional<int64_t> single_step_ns) {
  std::vector<int64_t> steps;
  int64_t wall = 0, exposed = 0;  // both without the waiting that the start of the recorders causes
  for (size_t row = 0; row < ranks.rows(); ++row) {
    if (!ranks.IsNull(row, "step_ns")) steps.push_back(ranks.Int(row, "step_ns"));
    const int64_t opening = ranks.Int(row, "compared") > 0 ? ranks.Int(row, "opening_waiting_ns") : 0;
    wall += ranks.Int(row, "wall_ns") - opening, exposed += ranks.Int(row, "exposed_comm_ns") - opening;
  }
  Scaling scaling;
  scaling.devices = static_cast<int64_t>(ranks.rows());
  scaling.step_ns = steps.empty() ? 0 : Percentile(steps, 0.5);
  if (single_step_ns) {
    if (scaling.step_ns <= 0 || *single_step_ns <= 0) return std::nullopt;
    scaling.efficiency = static_cast<double>(*single_step_ns) / static_cast<double>(scaling.step_ns);
    return scaling;
  }
  if (wall <= 0 || scaling.devices < 2) return std::nullopt;
  scaling.efficiency = 1 - ShareOf(exposed, wall);
  scaling.estimated = true;
  return scaling;
}

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
