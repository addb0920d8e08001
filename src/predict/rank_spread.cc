// SPDX-License-Identifier: Apache-2.0
// Divides the work of ranks and steps, and draws from the parts.
#include "predict/rank_spread.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace gapless::internal {
namespace {

constexpr double kToDeviation = 1.4826;  // of a median absolute deviation of normal values
constexpr size_t kMinForOutliers = 6;    // fewer values do not show which of them is one
constexpr double kLeastOutlier = 0.01;   // what is nearer to the others is none

double MeanOf(std::span<const double> values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double MedianOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Returns the values that are no outliers, and moves those that are into `outliers`.
std::vector<double> WithoutOutliers(const std::vector<double>& values, std::vector<double>& outliers) {
  if (values.size() < kMinForOutliers) return values;
  const double middle = MedianOf(values);
  std::vector<double> sizes, kept;
  for (const double value : values) sizes.push_back(std::abs(value - middle));
  const double limit = std::max(kLeastOutlier, kOutlying * kToDeviation * MedianOf(sizes));
  for (const double value : values) (std::abs(value - middle) > limit ? outliers : kept).push_back(value);
  return kept;
}

double SumOfSquares(std::span<const double> values, double mean) {
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum;
}

double OneOf(const std::vector<double>& values, NormalDraws& draws) {
  return values[std::min(values.size() - 1, static_cast<size_t>(draws.Uniform() * static_cast<double>(values.size())))];
}

}  // namespace

double NormalDraws::Normal() {
  const double size = std::sqrt(-2 * std::log(Uniform()));
  return size * std::cos(2 * std::numbers::pi * Uniform());
}

double RankSpread::DrawRank(NormalDraws& draws, double times) const {
  const double chance = draws.Uniform(), normal = draws.Normal();
  const auto ranks = static_cast<double>(rank_own.size());
  if (!rank_outliers.empty() && chance * ranks < static_cast<double>(rank_outliers.size()))
    return OneOf(rank_outliers, draws);
  return rank_deviation * times * normal;
}

double RankSpread::DrawRest(NormalDraws& draws, double times) const {
  const double chance = draws.Uniform(), normal = draws.Normal();
  if (!rest_outliers.empty() && chance * static_cast<double>(rests) < static_cast<double>(rest_outliers.size()))
    return OneOf(rest_outliers, draws);
  return rest_deviation * times * normal;
}

RankSpread SpreadOf(std::span<const std::vector<double>> work) {
  const size_t ranks = work.size(), steps = work.empty() ? 0 : work[0].size();
  RankSpread spread;
  spread.step_own.assign(steps, 0), spread.rank_own.assign(ranks, 0);
  double mean = 0;
  for (const auto& of : work) mean += MeanOf(of) / static_cast<double>(ranks);
  if (steps == 0 || !(mean > 0)) return spread;
  for (size_t rank = 0; rank < ranks; ++rank) spread.rank_own[rank] = MeanOf(work[rank]) / mean - 1;
  for (size_t step = 0; step < steps && ranks > 1; ++step) {
    for (const auto& of : work) spread.step_own[step] += of[step] / mean / static_cast<double>(ranks);
    spread.step_own[step] -= 1;
  }
  std::vector<double> rests;
  for (size_t rank = 0; rank < ranks; ++rank)
    for (size_t step = 0; step < steps; ++step)
      rests.push_back(work[rank][step] / mean - 1 - spread.rank_own[rank] - spread.step_own[step]);
  spread.rests = rests.size();
  const double freedom = static_cast<double>(std::max<size_t>(1, ranks - 1) * (steps - 1));
  const std::vector<double> kept = WithoutOutliers(rests, spread.rest_outliers);
  spread.rest_freedom = freedom * static_cast<double>(kept.size()) / static_cast<double>(rests.size());
  if (spread.rest_freedom > 0) spread.rest_deviation = std::sqrt(SumOfSquares(kept, 0) / spread.rest_freedom);
  const std::vector<double> even = WithoutOutliers(spread.rank_own, spread.rank_outliers);
  if (even.size() > 1) {
    const double of_means = SumOfSquares(even, MeanOf(even)) / static_cast<double>(even.size() - 1);
    const double of_rest = spread.rest_deviation * spread.rest_deviation / static_cast<double>(steps);
    spread.rank_deviation = std::sqrt(std::max(0.0, of_means - of_rest));
    const double lasting = of_means > 0 ? std::max(0.0, of_means - of_rest) / of_means : 0;
    for (double& own : spread.rank_own)
      if (std::ranges::find(spread.rank_outliers, own) == spread.rank_outliers.end()) own *= lasting;
  }
  return spread;
}

}  // namespace gapless::internal
