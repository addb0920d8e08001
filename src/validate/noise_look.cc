// SPDX-License-Identifier: Apache-2.0
// Kinds are asked for in the order of how much they would disturb the next question: two levels, then runs that are far
// off, then a drift or a dependence of neighbours; what is left is quiet.
#include "validate/noise_look.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "validate/baseline_line.h"
#include "validate/series_noise.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

constexpr double kFarOff = 4.5;       // robust standard deviations from the median
constexpr double kDriftErrors = 3;    // standard errors of the slope
constexpr double kSpikeGap = 3;       // a spike is this many times as far off as the most distant other run
constexpr double kLevelDistance = 4;  // standard deviations between two levels
constexpr size_t kLeastOfLevel = 3;

// Sums of squares around the mean of both parts of sorted values, when the first `cut` are one of them.
double Within(const std::vector<double>& sums, const std::vector<double>& squares, size_t cut) {
  const size_t n = sums.size() - 1;
  const auto part = [&](size_t a, size_t b) {
    const double sum = sums[b] - sums[a];
    return squares[b] - squares[a] - sum * sum / static_cast<double>(b - a);
  };
  return part(0, cut) + part(cut, n);
}

// Values that are far off, and whether all of them are much further on the worse side than the others are.
struct FarOff {
  size_t count = 0;
  bool are_spikes = true;
};

FarOff FindFarOff(std::span<const double> values) {
  std::vector<double> rest(values.begin(), values.end());
  const double median = MedianInPlace(rest);
  for (double& v : rest) v = std::fabs(v - median);
  const double sd = std::max(kMadToSd * MedianInPlace(rest), ResolutionFloor(values));
  FarOff found;
  double nearest_spike = HUGE_VAL, farthest_other = sd;
  for (const double v : values) {
    const double distance = std::fabs(v - median);
    if (distance <= kFarOff * sd) {
      farthest_other = std::max(farthest_other, distance);
      continue;
    }
    ++found.count;
    nearest_spike = std::min(nearest_spike, distance);
    found.are_spikes = found.are_spikes && v > median;
  }
  found.are_spikes = found.are_spikes && nearest_spike > kSpikeGap * farthest_other;
  return found;
}

}  // namespace

std::string_view NameOf(NoiseLook look) {
  constexpr std::string_view kNames[kNoiseLooks] = {"quiet", "drift", "spikes", "two_machines", "heavy_tail"};
  return kNames[static_cast<size_t>(look)];
}

std::optional<TwoLevels> FindTwoLevels(std::span<const double> values) {
  const size_t n = values.size(), least = std::max(kLeastOfLevel, (n + 4) / 5);
  if (n < 2 * least) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  std::vector<double> sums{0}, squares{0};
  for (const double v : sorted) {
    const double from_first = v - sorted[0];
    sums.push_back(sums.back() + from_first);
    squares.push_back(squares.back() + from_first * from_first);
  }
  size_t cut = least;
  for (size_t i = least; i + least <= n; ++i)
    if (Within(sums, squares, i) < Within(sums, squares, cut)) cut = i;
  TwoLevels levels;
  levels.low = sorted[0] + sums[cut] / static_cast<double>(cut);
  levels.high = sorted[0] + (sums[n] - sums[cut]) / static_cast<double>(n - cut);
  levels.sd = std::max(ResolutionFloor(values),
                       std::sqrt(std::max(0.0, Within(sums, squares, cut)) / static_cast<double>(n - 2)));
  levels.share_of_high = static_cast<double>(n - cut) / static_cast<double>(n);
  const double distance = levels.high - levels.low, gap = sorted[cut] - sorted[cut - 1];
  if (distance < kLevelDistance * levels.sd || gap < levels.sd) return std::nullopt;
  return levels;
}

NoiseLook LookOf(std::span<const double> values) {
  if (FindTwoLevels(values)) return NoiseLook::kTwoMachines;
  if (const FarOff far_off = FindFarOff(values); far_off.count > 0)
    return far_off.are_spikes ? NoiseLook::kSpikes : NoiseLook::kHeavyTail;
  const BaselineLine line = LineThrough(values);
  const bool drifts = std::fabs(line.slope) > kDriftErrors * line.slope_error;
  return drifts || CredibleDependence(line.noise.phi, static_cast<size_t>(line.runs)) > 0 ? NoiseLook::kDrift
                                                                                          : NoiseLook::kQuiet;
}

// Printed by `gate_alarms --rates` (bench/gate_alarms.cc): 600 histories a cell, on the showing seeds.

namespace {

constexpr double kLeastEffect = 0.05;  // that was simulated

struct Rates {
  size_t runs;  // at least
  std::array<double, kNoiseLooks> by_look;
};
constexpr Rates kRates[] = {
    //    quiet, drift, spikes, two machines, heavy tail
    {10, {0.043, 0.037, 0.043, 0.043, 0.022}},
    {12, {0.049, 0.039, 0.049, 0.049, 0.013}},
    {30, {0.057, 0.041, 0.057, 0.022, 0.013}},
    {100, {0.053, 0.053, 0.075, 0.010, 0.022}},
};

}  // namespace

std::optional<double> SimulatedFalseAlarms(std::optional<NoiseLook> look, size_t baseline_runs, double effect) {
  if (effect < kLeastEffect) return std::nullopt;
  const Rates* found = &kRates[0];
  for (const Rates& rates : kRates)
    if (baseline_runs >= rates.runs) found = &rates;
  return look ? found->by_look[static_cast<size_t>(*look)] : *std::ranges::max_element(found->by_look);
}

}  // namespace gapless::internal
