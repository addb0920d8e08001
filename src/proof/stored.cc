// SPDX-License-Identifier: Apache-2.0
// Compares two files of results: selects the series to compare, checks that both are the same quantity, and computes
// the ratio with its interval. A verdict needs values that are processes.
#include "proof/stored.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "proof/stored_series.h"
#include "proof/trend_runs.h"
#include "validate/dependence.h"
#include "validate/hypothesis.h"
#include "validate/rank_tests.h"
#include "validate/summary.h"

namespace gapless::internal {

namespace {

// Returns an error if the two series are not the same quantity.
Result<void> CheckAlike(const ResultSeries& a, const ResultSeries& b) {
  const auto unit = [](const ResultSeries& series) { return series.unit.empty() ? "none" : Printable(series.unit); };
  if (a.unit != b.unit)
    return Fail(ErrorCode::kInput, StrCat("cannot compare: the units differ: ", unit(a), " and ", unit(b)),
                Printable(a.name));
  if (a.higher_is_better && b.higher_is_better && *a.higher_is_better != *b.higher_is_better)
    return Fail(ErrorCode::kInput, "cannot compare: higher is better in one file and worse in the other",
                Printable(a.name));
  if (!a.formula.empty() && !b.formula.empty() && a.formula != b.formula)
    return Fail(ErrorCode::kInput,
                StrCat("cannot compare: the tools compute it differently: ", a.formula, "; and ", b.formula),
                Printable(a.name));
  return {};
}

// Returns the logarithms: ratios of values that may be 0 or below mean nothing.
Result<std::vector<double>> Logs(const ResultSeries& series) {
  std::vector<double> logs;
  for (const double value : series.values) {
    if (!(value > 0))
      return Fail(ErrorCode::kInput, "cannot compare as ratios: a value is not above zero", Printable(series.name));
    logs.push_back(std::log(value));
  }
  return logs;
}

// Decides by the interval alone. Equivalent: the whole interval is within the margin, in either direction.
SpeedVerdict Decide(const RatioInterval& speedup, double margin) {
  if (!speedup.low || !speedup.high) return SpeedVerdict::kCannotTell;
  if (*speedup.low > 1) return SpeedVerdict::kFaster;
  if (*speedup.high < 1) return SpeedVerdict::kSlower;
  const bool inside = *speedup.low > 1 - margin && *speedup.high < 1 / (1 - margin);
  return inside ? SpeedVerdict::kEquivalent : SpeedVerdict::kCannotTell;
}

// Fills in the speedup, its interval and the p values. The sign makes a speedup above 1 always better; it swaps the
// ends of the interval with it.
void TakeInterval(const std::vector<double>& a, const std::vector<double>& b, StoredComparison& comparison) {
  const double sign = comparison.higher_is_better ? 1 : -1;
  comparison.speedup.expected =
      std::exp(sign * (*Median(b) - *Median(a)));  // where there are too many pairs to look at
  if (const auto shift = HodgesLehmann(b, a)) {
    comparison.speedup.expected = std::exp(sign * shift->estimate);
    const auto &low = comparison.higher_is_better ? shift->low : shift->high,
               &high = comparison.higher_is_better ? shift->high : shift->low;
    if (low) comparison.speedup.low = std::exp(sign * *low);
    if (high) comparison.speedup.high = std::exp(sign * *high);
  }
  if (const auto test = MannWhitney(b, a)) comparison.p_mann_whitney = test->p;
  if (const auto test = WelchTest(b, a)) comparison.p_welch = test->p;
}

// Returns the smallest change that as many runs with this noise detect. The noise is the robust one of both sides,
// pooled; the smaller side limits it.
std::optional<double> Detectable(const std::vector<double>& a, const std::vector<double>& b) {
  const auto a_noise = MedianAbsoluteDeviation(a), b_noise = MedianAbsoluteDeviation(b);
  if (!a_noise || !b_noise) return std::nullopt;
  const double noise = std::sqrt((*a_noise * *a_noise + *b_noise * *b_noise) / 2);
  const auto effect = MinimumDetectableEffect(noise, std::min(a.size(), b.size()), {.design = Design::kTwoSample});
  return effect ? std::optional(std::expm1(*effect)) : std::nullopt;
}

// The statements of the user about the values win over those of the files.
Result<StoredComparison> CompareSeries(const SeriesPair& pair, const ResultFile& a, const ResultFile& b,
                                       const StoredOptions& options) {
  const auto [left, right] = pair;
  GAPLESS_TRY(CheckAlike(*left, *right));
  GAPLESS_ASSIGN(const auto a_logs, Logs(*left));
  GAPLESS_ASSIGN(const auto b_logs, Logs(*right));
  StoredComparison comparison;
  comparison.name = left->name, comparison.b_name = right->name, comparison.unit = left->unit;
  comparison.sampling = options.sampling.value_or(
      left->unit_of_sampling == right->unit_of_sampling ? left->unit_of_sampling : Sampling::kUnknown);
  comparison.higher_is_better =
      options.higher_is_better.value_or(left->higher_is_better.value_or(right->higher_is_better.value_or(false)));
  comparison.margin = options.margin;
  comparison.formula = left->formula, comparison.own_name = left->own_name;
  comparison.a_count = left->values.size(), comparison.b_count = right->values.size();
  comparison.a = *Median(left->values), comparison.b = *Median(right->values);
  TakeInterval(a_logs, b_logs, comparison);
  comparison.other_machine = !IsSameMachine(a.facts, b.facts);
  comparison.has_failed = HasFailed(a, left->name) || HasFailed(b, right->name);
  if (comparison.sampling != Sampling::kProcess || comparison.other_machine || comparison.has_failed) {
    // The spread between processes is unknown, or is not that of all of them: neither an interval nor a p value is
    // given.
    comparison.speedup.low.reset(), comparison.speedup.high.reset();
    comparison.p_mann_whitney.reset(), comparison.p_welch.reset();
    return comparison;
  }
  // Too few processes for an interval; the p values stay.
  if (std::min(comparison.a_count, comparison.b_count) < kMinProcesses)
    comparison.speedup.low.reset(), comparison.speedup.high.reset();
  comparison.verdict = Decide(comparison.speedup, options.margin);
  comparison.mde_share = Detectable(a_logs, b_logs);
  return comparison;
}

// The failed runs that concern the question: of a named series its own, else all but those that neither file has a
// value for, which were left out of both.
void TakeFailed(const ResultFile& file, const ResultFile& other, std::string_view side, const std::string& wanted,
                const std::string& wanted_name, std::vector<FailedSide>& out) {
  const auto has = [&](const std::string& name) {
    return std::ranges::any_of(other.series, [&](const ResultSeries& series) { return series.name == name; });
  };
  for (const FailedRuns& failed : file.failed) {
    if (!wanted.empty() && !failed.series.empty() && failed.series != wanted_name) continue;
    if (failed.may_be_left_out && !has(failed.series)) continue;
    out.push_back({side, failed});
  }
}

// Compares pair by pair. Of several those that have no ratio are named and left out.
Result<StoredAnswer> CompareAll(const std::vector<SeriesPair>& pairs, const ResultFile& a, const ResultFile& b,
                                const StoredOptions& options) {
  StoredAnswer answer;
  for (const SeriesPair& pair : pairs) {
    auto comparison = CompareSeries(pair, a, b, options);
    if (!comparison && (pairs.size() == 1 || &pair == &pairs.back()) && answer.all.empty())
      return Unexpected{comparison.error()};
    if (comparison)
      answer.all.push_back(std::move(*comparison));
    else
      answer.left_out.push_back(
          StrCat(Ellipsize(Printable(pair.a->name), kSeriesColumns), ": ", comparison.error().message));
  }
  return answer;
}

}  // namespace

Result<StoredAnswer> CompareFiles(const ResultFile& a, const ResultFile& b, const StoredOptions& options) {
  const auto pairs = PairsOf(a, b, options.series);
  if (!pairs) {
    Error error = pairs.error();
    for (const ResultFile* file : {&a, &b})
      if (!file->failed.empty()) error.message += StrCat(file == &a ? "; A: " : "; B: ", DescribeAllFailed(*file));
    return Unexpected{error};
  }
  auto answer = CompareAll(*pairs, a, b, options);
  if (!answer) return answer;
  if (options.series.empty()) {
    Unpaired unpaired = UnpairedOf(a, b);
    answer->only_in_a = std::move(unpaired.only_in_a);
    answer->only_in_b = std::move(unpaired.only_in_b);
  }
  TakeFailed(a, b, "A", options.series, pairs->front().a->name, answer->failed);
  TakeFailed(b, a, "B", options.series, pairs->front().b->name, answer->failed);
  return answer;
}

Result<StoredAnswer> CompareWithin(const ResultFile& file, const StoredOptions& options) {
  if (file.series.size() < 2 && !file.failed.empty())
    return Fail(ErrorCode::kInput, StrCat("cannot compare: ", DescribeAllFailed(file)));
  GAPLESS_ASSIGN(const auto pairs, PairsWithin(file, options.series));
  auto answer = CompareAll(pairs, file, file, options);
  if (!answer) return answer;
  for (const FailedRuns& failed : file.failed)
    answer->failed.push_back({failed.series == pairs.front().a->name ? "A" : "B", failed});
  return answer;
}

SpeedVerdict StoredAnswer::Verdict() const {
  const auto any = [this](SpeedVerdict verdict) {
    return std::ranges::any_of(all, [&](const StoredComparison& found) { return found.verdict == verdict; });
  };
  if (!failed.empty()) return SpeedVerdict::kCannotTell;
  for (const SpeedVerdict verdict : {SpeedVerdict::kSlower, SpeedVerdict::kCannotTell, SpeedVerdict::kFaster})
    if (any(verdict)) return verdict;
  return SpeedVerdict::kEquivalent;
}

const StoredComparison& StoredAnswer::Main() const {
  const SpeedVerdict verdict = Verdict();
  const auto weight = [&](const StoredComparison& found) {
    return std::pair(found.verdict != verdict, found.speedup.expected);
  };
  return *std::ranges::min_element(all, {}, weight);
}

double SlowerBy(const StoredComparison& comparison) { return 1 / comparison.speedup.expected - 1; }

std::vector<const StoredComparison*> StoredAnswer::BeyondThreshold() const {
  std::vector<const StoredComparison*> beyond;
  for (const StoredComparison& found : all)
    if (threshold && SlowerBy(found) > *threshold) beyond.push_back(&found);
  return beyond;
}

}  // namespace gapless::internal
