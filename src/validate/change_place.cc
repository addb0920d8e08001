// SPDX-License-Identifier: Apache-2.0
// Computes the posterior probability of each place of a change between two levels, and the interval around the most
// likely one.
#include "validate/change_place.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gapless::internal {
namespace {

constexpr size_t kPlaceReach = 80;   // indices on either side that a change may move by
constexpr double kOwnWeight = 1e-3;  // weight of a place beside its neighbours: exact where it can be
constexpr double kOutside = 0.025;   // likelihood left out at each end of the interval

ChangePlace Summarise(std::span<const double> weights, size_t low, size_t tolerance) {
  const size_t n = weights.size();
  std::vector<double> up_to(n + 1);
  for (size_t i = 0; i < n; ++i) up_to[i + 1] = up_to[i] + weights[i];
  const double all = up_to[n];
  const auto near = [&](size_t i) {
    return up_to[std::min(n, i + tolerance + 1)] - up_to[i < tolerance ? 0 : i - tolerance];
  };
  size_t best = 0;
  double most = -1;
  for (size_t i = 0; i < n; ++i) {
    const double score = near(i) + kOwnWeight * weights[i];
    if (score <= most) continue;
    most = score;
    best = i;
  }
  size_t first = 0, last = n - 1;
  while (first < best && up_to[first + 1] < kOutside * all) ++first;
  while (last > best && all - up_to[last] < kOutside * all) --last;
  return {low + best, low + first, low + last, near(best) / all};
}

}  // namespace

StretchSums::StretchSums(std::span<const double> values)
    : sum_(values.size() + 1), square_(values.size() + 1), product_(values.size() + 1) {
  for (size_t i = 0; i < values.size(); ++i) {
    sum_[i + 1] = sum_[i] + values[i];
    square_[i + 1] = square_[i] + values[i] * values[i];
    if (i + 1 < values.size()) product_[i + 1] = product_[i] + values[i] * values[i + 1];
  }
}

double StretchSums::Mean(size_t begin, size_t end) const {
  return (sum_[end] - sum_[begin]) / static_cast<double>(end - begin);
}

double StretchSums::Scatter(size_t begin, size_t end) const {
  const double sum = sum_[end] - sum_[begin];
  return std::max(0.0, square_[end] - square_[begin] - sum * sum / static_cast<double>(end - begin));
}

double StretchSums::Innovations(size_t begin, size_t end, double level, double phi) const {
  const double n = static_cast<double>(end - begin - 1);
  const double sum = sum_[end] - sum_[begin + 1], sum_before = sum_[end - 1] - sum_[begin];
  const double own = square_[end] - square_[begin + 1] + level * (n * level - 2 * sum);
  const double before = square_[end - 1] - square_[begin] + level * (n * level - 2 * sum_before);
  const double both = product_[end - 1] - product_[begin] + level * (n * level - sum - sum_before);
  return std::max(0.0, own - 2 * phi * both + phi * phi * before);
}

ChangePlace FindPlace(std::span<const double> values, const StretchSums& sums, const SeriesNoise& noise,
                      const PlaceQuestion& question) {
  const auto [begin, guess, end, asked, tolerance] = question;
  const size_t least = std::max<size_t>(asked, 1);
  const size_t low = std::max(begin + least, guess > kPlaceReach ? guess - kPlaceReach : 0);
  const size_t high = std::min(end - std::min(end, least), guess + kPlaceReach);
  if (low > high) return {guess, guess, guess, 1};
  std::vector<double> costs(high - low + 1);
  double cheapest = std::numeric_limits<double>::infinity();
  for (size_t at = low; at <= high; ++at) {
    const double before = sums.Mean(begin, at), after = sums.Mean(at, end);
    const double jump = values[at] - after - noise.phi * (values[at - 1] - before);
    costs[at - low] =
        sums.Innovations(begin, at, before, noise.phi) + sums.Innovations(at, end, after, noise.phi) + jump * jump;
    cheapest = std::min(cheapest, costs[at - low]);
  }
  const double scale = 2 * noise.sd * noise.sd * (1 - noise.phi * noise.phi);
  for (double& cost : costs) cost = std::exp((cheapest - cost) / scale);
  return Summarise(costs, low, tolerance);
}

}  // namespace gapless::internal
