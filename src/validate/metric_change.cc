// SPDX-License-Identifier: Apache-2.0
// Implements the comparison of a printed number with its own noise.
//
// A prediction interval of Student's t for the difference of means, from the runs without the change alone: runs with
// it do not widen what they are held to. Two runs have one degree of freedom, so that their interval is wide and says
// so; optimize adds runs where the first two differ. A pair is run within the same minute and with what else is on, so
// its difference is of the change alone.
#include "validate/metric_change.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/strings.h"
#include "validate/distributions.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

std::vector<double> Finite(std::span<const double> values) {
  std::vector<double> finite;
  std::ranges::copy_if(values, std::back_inserter(finite), [](double value) { return std::isfinite(value); });
  return finite;
}

bool AreEqual(std::span<const double> values) {
  return std::ranges::all_of(values, [&](double value) { return value == values[0]; });
}

double HalfWidth(double sd, size_t n, double share_of_variance) {
  return StudentQuantile(1 - kMetricAlpha / 2, static_cast<double>(n) - 1) * sd * std::sqrt(share_of_variance);
}

// Takes the larger of noise and floor. `furthest`: the difference that is held to it.
MetricChange Decide(MetricChange change, double noise, bool exact, double furthest) {
  const double floor = exact ? 0 : kMetricFloor * std::abs(change.before);
  change.allowed = std::max(noise, floor);
  change.basis = noise > floor ? MetricBasis::kNoise : exact ? MetricBasis::kExact : MetricBasis::kFloor;
  change.changed = !(furthest <= change.allowed);
  return change;
}

MetricChange MeansOf(std::span<const double> before, std::span<const double> after) {
  return {.before = *Mean(before), .after = *Mean(after), .runs_before = before.size(), .runs_after = after.size()};
}

}  // namespace

std::optional<MetricChange> ChangeOfMetric(std::span<const double> before, std::span<const double> after, bool exact) {
  const std::vector<double> without = Finite(before), with = Finite(after);
  if (without.empty() || after.empty()) return std::nullopt;
  if (with.size() < after.size()) {
    MetricChange change = Decide(MeansOf(without, without), 0, exact, 0);
    change.after = *std::ranges::find_if_not(after, [](double value) { return std::isfinite(value); });
    change.runs_after = after.size();
    change.changed = true;
    return change;
  }
  MetricChange change = MeansOf(without, with);
  if (AreEqual(without)) {
    change.before = without[0];
    const auto distance = [&](double value) { return std::abs(value - without[0]); };
    change.after = *std::ranges::max_element(with, {}, distance);
    return Decide(change, 0, exact, distance(change.after));
  }
  const double n = static_cast<double>(without.size()), k = static_cast<double>(with.size());
  const double noise = HalfWidth(*StandardDeviation(without), without.size(), 1 / n + 1 / k);
  return Decide(change, noise, exact, std::abs(change.after - change.before));
}

std::optional<MetricChange> ChangeOfMetricPairs(std::span<const double> before, std::span<const double> after,
                                                bool exact) {
  std::vector<double> differences;
  for (size_t i = 0; i < std::min(before.size(), after.size()); ++i) differences.push_back(after[i] - before[i]);
  const bool are_finite = std::ranges::all_of(differences, [](double value) { return std::isfinite(value); });
  if (differences.size() < kMinMetricPairs || !are_finite || AreEqual(before))
    return ChangeOfMetric(before, after, exact);
  const double n = static_cast<double>(differences.size());
  const double noise = HalfWidth(*StandardDeviation(differences), differences.size(), 1 / n);
  const MetricChange change = MeansOf(before, after);
  return Decide(change, noise, exact, std::abs(change.after - change.before));
}

std::string MetricWords(const MetricChange& change) {
  std::string words = StrCat(FormatDigits(change.after, 4), " after ", FormatDigits(change.before, 4), " (",
                             change.runs_before, " and ", change.runs_after, " runs); ");
  if (change.basis == MetricBasis::kExact)
    return StrCat(words, "any difference would be a change: runs repeat exactly");
  const std::string allowed = FormatDigits(change.allowed, 2);
  words += StrCat("a difference of more than ", allowed, " would be a change: ");
  return StrCat(words,
                change.basis == MetricBasis::kNoise ? "the noise of these runs, at 99 %" : "1 % of it, the floor");
}

}  // namespace gapless::internal
