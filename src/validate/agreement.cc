// SPDX-License-Identifier: Apache-2.0
// A run on a shared machine is now and then half as slow again without any change of the program. Such a run looks like
// a slowdown to every test that assumes a distribution, and how many there are of them is not known beforehand. What
// tells a change from them is that it stays. So the newest runs together are ranked among the runs before: in an
// unchanged program any order is equally likely, be its noise normal, spiky, heavy-tailed, or that of two machines. The
// chance of ranks as high as those seen is then known exactly. The price: at least three runs are needed, six where the
// baseline has ten.
//
// The sum of the ranks sees a shift that is larger than most of the noise. Between machines that differ by more than
// the program slowed down it sees little: half of the new runs stay among the old ones. There the runs on the slower
// machine, each above every run before, are what is seen.
#include "validate/agreement.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "validate/baseline_line.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

// Numbers of newest runs that are looked at together. Their chances were found together, by simulation on the choosing
// seeds (testing/gate_walk.h): more windows would find more, and raise more false alarms.
constexpr std::array<size_t, 8> kRunsLookedAt = {3, 4, 5, 6, 7, 8, 10, 12};
constexpr double kBeyondLine = 4.5;  // standard errors beyond the line, found with the numbers above
constexpr size_t kMinRuns =
    3;  // least number of runs of a window that moved each by itself: high ranks alone may be two outliers
constexpr size_t kMaxRuns = 24;  // greatest number of runs of a window
constexpr size_t kNearby = 10;   // runs before the window whose level a drift has hardly left

double MedianOf(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  return MedianInPlace(copy);
}

// Returns how far the distribution moved: the median distance of the window's runs from the baseline's runs of the same
// rank.
double ShiftOfRanks(std::span<const double> baseline, std::span<const double> window) {
  std::vector<double> before(baseline.begin(), baseline.end()), now(window.begin(), window.end());
  std::ranges::sort(before);
  std::ranges::sort(now);
  for (size_t i = 0; i < now.size(); ++i) now[i] -= before[(2 * i + 1) * before.size() / (2 * now.size())];
  return MedianInPlace(now);
}

bool RanksAgree(std::span<const double> baseline, std::span<const double> window, const AgreementOptions& options) {
  const double level = MedianOf(window), before = MedianOf(baseline);
  if (level - before < options.least_shift) return false;
  if (level - MedianOf(baseline.last(std::min(baseline.size(), kNearby))) < options.least_shift) return false;
  const double least = before + options.least_shift;
  const auto moved = std::ranges::count_if(window, [&](double value) { return value >= least; });
  if (static_cast<size_t>(moved) < kMinRuns) return false;
  return RankSumChance(baseline, window) <= options.chance &&
         DistanceFromLine(LineThrough(baseline), window) >= kBeyondLine;
}

// Dependent runs stand for fewer independent ones, so that their chance is a root of what it seems to be.
bool StandOut(std::span<const double> baseline, std::span<const double> window, const AgreementOptions& options) {
  baseline = baseline.last(std::min(baseline.size(), kMaxRanked));
  const auto above = [&](double limit) {
    return static_cast<size_t>(std::ranges::count_if(window, [&](double value) { return value > limit; }));
  };
  const double margin = options.least_shift / 2;
  if (above(*std::ranges::max_element(baseline) + margin) < kMinRuns) return false;
  const BaselineLine line = LineThrough(baseline);
  const size_t beyond = above(HighestAhead(line, baseline, window.size()) + margin);
  if (beyond < kMinRuns || ShiftOfRanks(baseline, window) < options.least_shift) return false;
  const double phi = CredibleDependence(line.noise.phi, static_cast<size_t>(line.runs));
  return ExceedanceChance(baseline.size(), window.size(), beyond) <= std::pow(options.chance, (1 + phi) / (1 - phi));
}

}  // namespace

std::span<const size_t> AgreementWindows() { return kRunsLookedAt; }

bool Agree(std::span<const double> values, size_t begin, size_t learned, size_t size, const AgreementOptions& options) {
  if (size == 0 || size > std::min(values.size(), kMaxRuns)) return false;
  const size_t end = std::min(learned, values.size() - size);
  if (end < begin + options.least_baseline) return false;
  const auto baseline = values.subspan(begin, end - begin), window = values.last(size);
  return RanksAgree(baseline, window, options) || StandOut(baseline, window, options);
}

std::optional<size_t> RunsThatAgree(std::span<const double> values, size_t begin, size_t learned,
                                    const AgreementOptions& options) {
  for (const size_t size : kRunsLookedAt)
    if (Agree(values, begin, learned, size, options)) return size;
  return std::nullopt;
}

// The sums of k ranks out of n + k are counted by adding rank after rank: with at most 100 runs of the baseline and 24
// of the window this takes milliseconds, once for each pair of numbers and thread.

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
