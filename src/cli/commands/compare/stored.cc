// SPDX-License-Identifier: Apache-2.0
// Compares two files of results: selects the series to compare, checks that both are the same quantity, and computes
// the ratio with its interval. A verdict needs values that are processes.
//
// The output for two files of hyperfine, whose values are processes:
//
//   B is faster: speedup 1.248×, 95 % interval 1.210× to 1.288×
//
//     A  1.005 s, the median of 8  old
//     B  0.8050 s, the median of 8  new
#include "cli/commands/compare/stored.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "cli/commands/compare/report.h"
#include "cli/commands/trend/words.h"
#include "cli/output.h"
#include "cli/text_table.h"
#include "proof/trend_runs.h"
#include "validate/dependence.h"
#include "validate/hypothesis.h"
#include "validate/power.h"
#include "validate/rank_tests.h"
#include "validate/summary.h"

namespace gapless::internal {

namespace {

constexpr size_t kMinProcesses = 4;  // with fewer on both sides the rank test's interval has no ends

constexpr size_t kMaxNames = 8;
constexpr int kSeriesColumns = 60, kTextColumns = 80;
constexpr std::string_view kMainSeries = "step_time";  // main series of gapless bench, which writes other series too

// Lists at most eight names for a hint.
std::string NamesOf(const std::vector<const ResultSeries*>& all) {
  std::vector<std::string> names;
  for (const ResultSeries* series : all) {
    if (names.size() == kMaxNames) {
      names.emplace_back("…");
      break;
    }
    names.push_back(Ellipsize(Printable(series->name), kSeriesColumns));
  }
  return Join(names, ", ");
}

std::string NamesOf(const ResultFile& file) {
  std::vector<const ResultSeries*> all;
  for (const ResultSeries& series : file.series) all.push_back(&series);
  return NamesOf(all);
}

const ResultSeries* Find(const ResultFile& file, const std::string& name) {
  const auto found = std::find_if(file.series.begin(), file.series.end(),
                                  [&](const ResultSeries& series) { return series.name == name; });
  return found == file.series.end() ? nullptr : &*found;
}

// Returns the two series to compare: by name, else the only ones (whatever they are called), else the only name that
// both have, else the times of steps. Series with several values on both sides are preferred to single values.
Result<std::pair<const ResultSeries*, const ResultSeries*>> Choose(const ResultFile& a, const ResultFile& b,
                                                                   const std::string& name) {
  if (!name.empty()) {
    const ResultSeries* const left = Find(a, name);
    const ResultSeries* const right = Find(b, name);
    if (left != nullptr && right != nullptr) return std::pair(left, right);
    return Fail(ErrorCode::kInput, "cannot compare: this series is not in both files", name,
                StrCat("there are ", NamesOf(left == nullptr ? a : b)));
  }
  if (a.series.size() == 1 && b.series.size() == 1) return std::pair(a.series.data(), b.series.data());
  std::vector<const ResultSeries*> common, sampled;  // those with more than one value say more
  for (const ResultSeries& series : a.series) {
    const ResultSeries* const other = Find(b, series.name);
    if (other == nullptr) continue;
    common.push_back(&series);
    if (series.values.size() > 1 && other->values.size() > 1) sampled.push_back(&series);
  }
  if (common.empty())
    return Fail(ErrorCode::kInput, "cannot compare: the files have no series in common", "",
                StrCat("there are ", NamesOf(a), " and ", NamesOf(b)));
  const auto& candidates = sampled.empty() ? common : sampled;
  const auto main = std::find_if(candidates.begin(), candidates.end(),
                                 [](const ResultSeries* series) { return series->name == kMainSeries; });
  if (candidates.size() > 1 && main == candidates.end())
    return Fail(ErrorCode::kInput, "cannot choose a series: both files hold several", "",
                StrCat("--series names one of ", NamesOf(candidates)));
  const ResultSeries* const chosen = main == candidates.end() ? candidates[0] : *main;
  return std::pair(chosen, Find(b, chosen->name));
}

// Returns an error if the two series are not the same quantity.
Result<void> CheckAlike(const ResultSeries& a, const ResultSeries& b) {
  const auto unit = [](const ResultSeries& series) { return series.unit.empty() ? "none" : Printable(series.unit); };
  if (a.unit != b.unit)
    return Fail(ErrorCode::kInput, StrCat("cannot compare: the units differ: ", unit(a), " and ", unit(b)),
                Printable(a.name));
  if (a.higher_is_better && b.higher_is_better && *a.higher_is_better != *b.higher_is_better)
    return Fail(ErrorCode::kInput, "cannot compare: higher is better in one file and worse in the other",
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

// States the verdict and the factor; the interval only if both of its ends are known.
std::string Headline(const StoredComparison& comparison) {
  const RatioInterval& speedup = comparison.speedup;
  const std::string interval = speedup.low && speedup.high ? StrCat(", 95 % interval ", SpeedFactorText(*speedup.low),
                                                                    " to ", SpeedFactorText(*speedup.high))
                                                           : "";
  const std::string found = StrCat("speedup ", SpeedFactorText(speedup.expected), interval);
  switch (comparison.verdict) {
    case SpeedVerdict::kFaster: return StrCat("B is faster: ", found);
    case SpeedVerdict::kSlower: return StrCat("B is slower: ", found);
    case SpeedVerdict::kEquivalent: return StrCat("A and B are equivalent: ", found);
    case SpeedVerdict::kCannotTell: break;
  }
  return StrCat("cannot tell: ", found);
}

}  // namespace

// Explains the limits of the answer, which a factor alone would hide.
std::string WhatTheyShow(const StoredComparison& comparison) {
  if (comparison.other_machine)
    return "the two were measured on different machines or devices, so what differs may be theirs; to compare the "
           "commands, run both on one: gapless compare -- A -- B";
  switch (comparison.sampling) {
    case Sampling::kProcess:
      if (std::min(comparison.a_count, comparison.b_count) < kMinProcesses)
        return StrCat("a value is a process; a verdict takes ", kMinProcesses, " of them on each side");
      return "a value is a process: what is said holds for the commands, on a machine as it was";
    case Sampling::kIteration:
      return "a value is an iteration of one process on each side: the files show how these two processes ran; the "
             "next "
             "two may differ by more (memory layout, clocks), which no number of iterations can show; to compare the "
             "commands: gapless compare -- A -- B";
    case Sampling::kUnknown: break;
  }
  return "the files do not record what a value is; if each value is a process of its own, add --values process";
}

// The statements of the user about the values win over those of the files.
Result<StoredComparison> CompareStored(const ResultFile& a, const ResultFile& b, const StoredOptions& options) {
  const auto chosen = Choose(a, b, options.series);
  if (!chosen) return Unexpected{chosen.error()};
  const auto [left, right] = *chosen;
  GAPLESS_TRY(CheckAlike(*left, *right));
  const auto a_logs = Logs(*left), b_logs = Logs(*right);
  if (!a_logs) return Unexpected{a_logs.error()};
  if (!b_logs) return Unexpected{b_logs.error()};
  StoredComparison comparison;
  comparison.name = left->name, comparison.b_name = right->name, comparison.unit = left->unit;
  comparison.sampling = options.sampling.value_or(
      left->unit_of_sampling == right->unit_of_sampling ? left->unit_of_sampling : Sampling::kUnknown);
  comparison.higher_is_better =
      options.higher_is_better.value_or(left->higher_is_better.value_or(right->higher_is_better.value_or(false)));
  comparison.margin = options.margin;
  comparison.a_count = left->values.size(), comparison.b_count = right->values.size();
  comparison.a = *Median(left->values), comparison.b = *Median(right->values);
  TakeInterval(*a_logs, *b_logs, comparison);
  comparison.other_machine = !IsSameMachine(a.facts, b.facts);
  if (comparison.sampling != Sampling::kProcess || comparison.other_machine) {
    // The spread between processes is unknown, so neither an interval nor a p value is given.
    comparison.speedup.low.reset(), comparison.speedup.high.reset();
    comparison.p_mann_whitney.reset(), comparison.p_welch.reset();
    return comparison;
  }
  // Too few processes for an interval; the p values stay.
  if (std::min(comparison.a_count, comparison.b_count) < kMinProcesses)
    comparison.speedup.low.reset(), comparison.speedup.high.reset();
  comparison.verdict = Decide(comparison.speedup, options.margin);
  // Robust noise of both sides, pooled; the smaller side limits what could have been detected.
  const auto a_noise = MedianAbsoluteDeviation(*a_logs), b_noise = MedianAbsoluteDeviation(*b_logs);
  if (a_noise && b_noise) {
    const double noise = std::sqrt((*a_noise * *a_noise + *b_noise * *b_noise) / 2);
    const auto effect = MinimumDetectableEffect(noise, std::min(comparison.a_count, comparison.b_count),
                                                {.design = Design::kTwoSample});
    if (effect) comparison.mde_share = std::expm1(*effect);
  }
  return comparison;
}

// Prints both medians in one unit, chosen by the larger one. Names are shown at the sides only if they differ.
std::string StoredText(const StoredComparison& comparison) {
  const bool same = comparison.name == comparison.b_name;
  const ShownUnit unit = ShownUnitOf(std::max(comparison.a, comparison.b), comparison.unit);
  const auto side = [&](std::string_view side, double value, size_t count, const std::string& name) {
    return StrCat("  ", side, "  ", FourDigits(value / unit.size), unit.name.empty() ? "" : " ", unit.name,
                  count == 1 ? "" : StrCat(", the median of ", count),
                  same ? "" : StrCat("  ", Ellipsize(Printable(name), kSeriesColumns / 2)), "\n");
  };
  std::string text = StrCat(Headline(comparison), "\n\n");
  if (same) text += StrCat("  ", Ellipsize(Printable(comparison.name), kSeriesColumns), "\n");
  text += side("A", comparison.a, comparison.a_count, comparison.name);
  text += side("B", comparison.b, comparison.b_count, comparison.b_name) + "\n";
  std::vector<std::string> tests;
  if (comparison.p_mann_whitney) tests.push_back(StrCat(PValueText(*comparison.p_mann_whitney), " (Mann-Whitney)"));
  if (comparison.p_welch) tests.push_back(StrCat(PValueText(*comparison.p_welch), " (Welch)"));
  if (!tests.empty())
    text +=
        Wrapped(StrCat("p ", Join(tests, ", "), ", if the numbers of runs were fixed beforehand"), 0, kTextColumns) +
        "\n";
  if (comparison.mde_share)
    text +=
        StrCat("this number of runs with this noise detects ", FormatPercent(*comparison.mde_share), " (power 80 %)\n");
  return text + Wrapped(WhatTheyShow(comparison), 0, kTextColumns) + "\n";
}

}  // namespace gapless::internal
