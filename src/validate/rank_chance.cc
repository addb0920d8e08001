// SPDX-License-Identifier: Apache-2.0
// The sums of k ranks out of n + k are counted by adding rank after rank: with at most 100 runs of the baseline and 24
// of the window this takes milliseconds, once for each pair of numbers and thread.
#include "validate/rank_chance.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace gapless::internal {
namespace {

// Returns the chance of a sum of at least s, for all s.
std::vector<double> UpperTail(size_t n, size_t k) {
  const size_t all = n + k, most = k * all;
  std::vector<std::vector<double>> ways(k + 1, std::vector<double>(most + 1));
  ways[0][0] = 1;
  for (size_t rank = 1; rank <= all; ++rank)
    for (size_t j = std::min(k, rank); j > 0; --j)
      for (size_t sum = most; sum >= rank; --sum) ways[j][sum] += ways[j - 1][sum - rank];
  std::vector<double> tail = std::move(ways[k]);
  for (size_t sum = most; sum-- > 0;) tail[sum] += tail[sum + 1];
  const double total = tail[0];
  for (double& chance : tail) chance /= total;
  return tail;
}

}  // namespace

double RankSumChance(std::span<const double> baseline, std::span<const double> window) {
  if (baseline.empty() || window.empty()) return 1;
  baseline = baseline.last(std::min(baseline.size(), kMaxRanked));
  size_t sum = window.size() * (window.size() + 1) / 2;
  for (const double value : window)
    sum += static_cast<size_t>(std::ranges::count_if(baseline, [&](double other) { return other < value; }));
  thread_local std::map<std::pair<size_t, size_t>, std::vector<double>> tails;
  auto& tail = tails[{baseline.size(), window.size()}];
  if (tail.empty()) tail = UpperTail(baseline.size(), window.size());
  return tail[sum];
}

// The highest `beyond` of all runs are of the window: of the first of them with the chance k / (n + k), and so on.
double ExceedanceChance(size_t baseline, size_t window, size_t beyond) {
  if (beyond > window) return 0;
  double chance = 1;
  for (size_t i = 0; i < beyond; ++i)
    chance *= static_cast<double>(window - i) / static_cast<double>(baseline + window - i);
  return chance;
}

}  // namespace gapless::internal
