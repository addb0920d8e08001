// SPDX-License-Identifier: Apache-2.0
#include "optimize/guard.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr double kNearlyAll = 0.9, kStandardErrors = 3;
constexpr size_t kLeastForMeans = 8;

struct Difference {
  double most = 0;
  size_t steps = 0, first = 0;  // compared; the first that differs
};

// Over the first `most_steps` of both.
Difference Differ(const Losses& a, const Losses& b, size_t most_steps) {
  Difference found;
  for (size_t i = 0; i < std::min({a.size(), b.size(), most_steps}); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) continue;
    const double difference = std::abs(a[i] - b[i]);
    if (difference > 0 && found.most == 0) found.first = i;
    found.most = std::max(found.most, difference);
    ++found.steps;
  }
  return found;
}

double Largest(std::span<const Losses> runs, size_t most_steps) {
  double largest = 0;
  for (const Losses& run : runs)
    for (size_t i = 0; i < std::min(run.size(), most_steps); ++i)
      if (std::isfinite(run[i])) largest = std::max(largest, std::abs(run[i]));
  return largest;
}

std::optional<double> SpreadOf(std::span<const Losses> runs, size_t most_steps) {
  std::optional<double> spread;
  for (size_t i = 1; i < runs.size(); ++i)
    spread = std::max(spread.value_or(0), Differ(runs[i - 1], runs[i], most_steps).most);
  return spread;
}

// The step from which on there is no number where the other run has one; absent: none.
std::optional<size_t> FirstLost(std::span<const Losses> without, std::span<const Losses> with) {
  for (const Losses& run : with)
    for (size_t i = 0; i < run.size(); ++i)
      if (!std::isfinite(run[i]) && std::ranges::all_of(without, [&](const Losses& other) {
            return i < other.size() && std::isfinite(other[i]);
          }))
        return i;
  return std::nullopt;
}

// The second half of what all runs have: mean over the runs, by step.
Losses SecondHalf(std::span<const Losses> runs, size_t steps) {
  Losses means;
  for (size_t i = steps / 2; i < steps; ++i) {
    double sum = 0;
    for (const Losses& run : runs) sum += run[i];
    means.push_back(sum / static_cast<double>(runs.size()));
  }
  return means;
}

double Mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// How much higher, as a share, and of how many standard errors of the differences that is.
struct Rise {
  double share = 0, errors = 0, above = 0;  // above: the share of steps that lie higher
  bool grows = false;                       // the later half of them more than the earlier
};

Rise RiseOf(const Losses& without, const Losses& with) {
  Losses rises;
  for (size_t i = 0; i < without.size(); ++i) rises.push_back(with[i] - without[i]);
  const double mean = Mean(rises), scale = std::max(std::abs(Mean(without)), std::numeric_limits<double>::min());
  double squares = 0;
  for (const double rise : rises) squares += (rise - mean) * (rise - mean);
  const auto count = static_cast<double>(rises.size());
  const double error = std::sqrt(squares / std::max(count - 1, 1.0) / count);
  const std::span all(rises);
  return {.share = mean / scale,
          .errors = error > 0  ? mean / error
                    : mean > 0 ? std::numeric_limits<double>::infinity()
                               : 0,
          .above = static_cast<double>(std::ranges::count_if(rises, [](double rise) { return rise > 0; })) / count,
          .grows = Mean(all.subspan(all.size() / 2)) > Mean(all.first(all.size() / 2))};
}

void CheckMeans(FixClass promised, std::span<const Losses> without, std::span<const Losses> with, size_t steps,
                GuardReport& report) {
  if (steps < kLeastForMeans) return;
  const Losses before = SecondHalf(without, steps);
  const Rise rise = RiseOf(before, SecondHalf(with, steps));
  if (rise.above >= kNearlyAll && rise.share > kMeanShare && rise.grows) {
    report.reason =
        StrCat("the loss drifts away: ", FormatPercent(rise.share), " higher in the second half, and growing");
  } else if (promised >= FixClass::kStochastic && rise.share > kMeanShare && rise.errors > kStandardErrors) {
    double spread = 0;
    for (size_t i = 1; i < without.size(); ++i)
      spread = std::max(spread, std::abs(Mean(SecondHalf(without.subspan(i, 1), steps)) -
                                         Mean(SecondHalf(without.subspan(i - 1, 1), steps))));
    if (rise.share * std::abs(Mean(before)) > kSpread * spread)
      report.reason = StrCat("the loss is ", FormatPercent(rise.share), " higher in the second half, more than chance");
  }
}

void CheckSteps(FixClass promised, std::span<const Losses> without, std::span<const Losses> with, double rounding,
                GuardReport& report) {
  const size_t close = promised == FixClass::kExact ? SIZE_MAX : kClose;
  const double spread = SpreadOf(without, close).value_or(0);
  double allowed = kSpread * spread;
  if (promised == FixClass::kRounding) allowed = std::max(allowed, rounding * Largest(without, close));
  for (const Losses& run : with)
    for (const Losses& other : without) {
      const Difference found = Differ(other, run, close);
      if (found.most <= allowed || !report.reason.empty()) continue;
      report.reason =
          promised == FixClass::kExact
              ? StrCat("the losses are other numbers from step ", found.first, " on, by up to ",
                       FormatDigits(found.most, 3),
                       spread > 0 ? StrCat("; two runs without it differ by ", FormatDigits(spread, 3)) : "")
              : StrCat("the losses of the first ", found.steps, " steps differ by up to ", FormatDigits(found.most, 3),
                       ", rounding allows ", FormatDigits(allowed, 3));
    }
}

std::vector<Losses> WithLosses(std::span<const Losses> runs) {
  std::vector<Losses> some;
  for (const Losses& run : runs)
    if (std::ranges::any_of(run, [](double loss) { return !std::isnan(loss); })) some.push_back(run);
  return some;
}

}  // namespace

GuardReport CheckLosses(FixClass promised, std::span<const Losses> without_all, std::span<const Losses> with_all,
                        double rounding) {
  GuardReport report;
  const std::vector<Losses> without = WithLosses(without_all), with = WithLosses(with_all);
  if (without.empty()) return report;
  report.checked = true;
  if (with.empty()) {
    report.reason = "no loss was a number";
  } else if (const auto lost = FirstLost(without, with)) {
    report.reason = StrCat("the loss is no number from step ", *lost, " on");
  }
  size_t common = SIZE_MAX;
  for (const auto* runs : {&without, &with})
    for (const Losses& run : *runs) common = std::min(common, run.size());
  report.spread = SpreadOf(without, SIZE_MAX);
  report.exact = report.reason.empty();
  for (const Losses& run : with) {
    const Difference found = Differ(without[0], run, SIZE_MAX);
    report.steps = std::max(report.steps, found.steps);
    report.max_difference = std::max(report.max_difference, found.most);
    report.exact = report.exact && found.most == 0;
  }
  if (report.reason.empty() && promised <= FixClass::kRounding) CheckSteps(promised, without, with, rounding, report);
  const bool whole = std::ranges::none_of(without[0], [](double loss) { return std::isnan(loss); });
  if (report.reason.empty() && whole) CheckMeans(promised, without, with, common, report);
  report.passed = report.reason.empty();
  return report;
}

GuardReport CheckMetric(FixClass promised, std::span<const double> without, std::span<const double> with) {
  GuardReport report;
  if (without.empty()) return report;
  report.checked = true;
  report.steps = 1;
  const auto [low, high] = std::ranges::minmax(without);
  if (without.size() > 1) report.spread = high - low;
  for (const double value : with)
    report.max_difference = std::max(report.max_difference, std::max(value - high, low - value));
  report.exact = !with.empty() && report.max_difference <= 0 && low == high;
  double allowed = kSpread * report.spread.value_or(0);
  if (promised != FixClass::kExact) allowed = std::max(allowed, kMeanShare * std::max(std::abs(low), std::abs(high)));
  if (with.empty())
    report.reason = "it is no longer printed";
  else if (report.max_difference > allowed)
    report.reason =
        StrCat("it is ", FormatDigits(with.back(), 4), ", and ", FormatDigits(without.back(), 4), " without");
  report.passed = report.reason.empty();
  return report;
}

}  // namespace gapless::internal
