// SPDX-License-Identifier: Apache-2.0
// Prints the comparison of files of results. The output for two files of hyperfine, whose values are processes:
//
//   B is faster: speedup 1.248×, 95 % interval 1.210× to 1.288×
//
//     A  1.005 s, the median of 8  old
//     B  0.8050 s, the median of 8  new
//
// Several series are a table, a line each.
#include <algorithm>

#include "base/strings.h"
#include "proof/stored.h"
#include "proof/stored_series.h"
#include "report/compare/report.h"
#include "report/text_table.h"
#include "report/trend/words.h"

namespace gapless::internal {
namespace {

constexpr int kTextColumns = 80, kTableColumns = 36;

std::string_view WordOf(SpeedVerdict verdict) {
  switch (verdict) {
    case SpeedVerdict::kFaster: return "faster";
    case SpeedVerdict::kSlower: return "slower";
    case SpeedVerdict::kEquivalent: return "equivalent";
    case SpeedVerdict::kCannotTell: break;
  }
  return "cannot tell";
}

std::string_view SentenceOf(SpeedVerdict verdict) {
  switch (verdict) {
    case SpeedVerdict::kFaster: return "B is faster";
    case SpeedVerdict::kSlower: return "B is slower";
    case SpeedVerdict::kEquivalent: return "A and B are equivalent";
    case SpeedVerdict::kCannotTell: break;
  }
  return "cannot tell";
}

// States the verdict and the factor; the interval only if both of its ends are known.
std::string Headline(const StoredAnswer& answer) {
  const StoredComparison& comparison = answer.Main();
  const RatioInterval& speedup = comparison.speedup;
  const std::string interval = speedup.low && speedup.high ? StrCat(", 95 % interval ", SpeedFactorText(*speedup.low),
                                                                    " to ", SpeedFactorText(*speedup.high))
                                                           : "";
  const std::string_view verdict = SentenceOf(answer.Verdict());
  if (!answer.failed.empty()) return StrCat(verdict, ", since runs failed");
  if (answer.all.size() == 1) return StrCat(verdict, ": speedup ", SpeedFactorText(speedup.expected), interval);
  const auto [low, high] =
      std::ranges::minmax_element(answer.all, {}, [](const StoredComparison& found) { return found.speedup.expected; });
  return StrCat(verdict, ": ", answer.all.size(), " series, speedups from ", SpeedFactorText(low->speedup.expected),
                " to ", SpeedFactorText(high->speedup.expected));
}

std::string ValueText(double value, const ShownUnit& unit) {
  return StrCat(FourDigits(value / unit.size), unit.name.empty() ? "" : " ", unit.name);
}

// Prints both medians in one unit, chosen by the larger one. Names are shown at the sides only if they differ.
std::string SidesText(const StoredComparison& comparison) {
  const bool same = comparison.name == comparison.b_name;
  const ShownUnit unit = ShownUnitOf(std::max(comparison.a, comparison.b), comparison.unit);
  const auto side = [&](std::string_view side, double value, size_t count, const std::string& name) {
    return StrCat("  ", side, "  ", ValueText(value, unit), count == 1 ? "" : StrCat(", the median of ", count),
                  same ? "" : StrCat("  ", Ellipsize(Printable(name), kSeriesColumns / 2)), "\n");
  };
  std::string text;
  if (same) text += StrCat("  ", Ellipsize(Printable(comparison.name), kSeriesColumns), "\n");
  text += side("A", comparison.a, comparison.a_count, comparison.name);
  return text + side("B", comparison.b, comparison.b_count, comparison.b_name);
}

// A row for each series. Names lose what all of them begin with, up to the last "::".
std::string TableText(const StoredAnswer& answer) {
  const std::string& first = answer.all[0].name;
  size_t shared = first.rfind("::");
  shared = shared == std::string::npos ? 0 : shared + 2;
  const bool within = std::ranges::any_of(answer.all, [](const auto& found) { return found.name != found.b_name; });
  for (const StoredComparison& found : answer.all)
    if (found.name.compare(0, shared, first, 0, shared) != 0) shared = 0;
  std::vector<std::vector<std::string>> rows;
  for (const StoredComparison& found : answer.all) {
    const ShownUnit unit = ShownUnitOf(std::max(found.a, found.b), found.unit);
    const std::string& name = within ? found.b_name : found.name;
    const double change = found.b / found.a - 1;
    rows.push_back({StrCat("  ", Ellipsize(Printable(name.substr(within ? 0 : shared)), kTableColumns)),
                    ValueText(found.a, unit), ValueText(found.b, unit),
                    StrCat(change >= 0 ? "+" : "-", FormatPercent(std::abs(change))),
                    SpeedFactorText(found.speedup.expected), std::string(WordOf(found.verdict))});
  }
  return Aligned({within ? "  B" : "  series", "A", "B", "change", "speedup", ""}, rows, "");
}

// Says how each number is computed, since tools give one name to different quantities; statistics of one are a line.
std::string FormulaText(const StoredAnswer& answer) {
  std::string text;
  std::string_view last;
  for (const StoredComparison& found : answer.all) {
    if (found.formula.empty() || found.formula == last) continue;
    last = found.formula;
    const std::string name = Ellipsize(Printable(found.name), kTableColumns);
    const std::string own = found.own_name.empty() || name == found.own_name ? "" : StrCat(" (", found.own_name, ")");
    text += StrCat("  ", Wrapped(StrCat(name, own, " = ", found.formula), 4, kTextColumns - 2), "\n");
  }
  return text.empty() ? "" : StrCat(text, "\n");
}

// The p values and what could have been detected; "" where no verdict can be given.
std::string EvidenceText(const StoredComparison& comparison) {
  std::vector<std::string> tests;
  if (comparison.p_mann_whitney) tests.push_back(StrCat(PValueText(*comparison.p_mann_whitney), " (Mann-Whitney)"));
  if (comparison.p_welch) tests.push_back(StrCat(PValueText(*comparison.p_welch), " (Welch)"));
  std::string text;
  if (!tests.empty())
    text = Wrapped(StrCat("p ", Join(tests, ", "), ", if the numbers of runs were fixed beforehand"), 0, kTextColumns) +
           "\n";
  if (comparison.mde_share)
    text +=
        StrCat("this number of runs with this noise detects ", FormatPercent(*comparison.mde_share), " (power 80 %)\n");
  return text;
}

// Says whether a series is slower by more than was asked for.
std::string ThresholdText(const StoredAnswer& answer) {
  if (!answer.threshold) return "";
  const auto beyond = answer.BeyondThreshold();
  if (beyond.empty()) return StrCat("nothing is slower by more than ", FormatPercent(*answer.threshold), "\n");
  std::string text;
  for (const StoredComparison* found : beyond)
    text += StrCat("slower by ", FormatPercent(SlowerBy(*found)), ", more than ", FormatPercent(*answer.threshold),
                   ": ", Ellipsize(Printable(found->b_name), kSeriesColumns), "\n");
  return text;
}

}  // namespace

// Explains the limits of the answer, which a factor alone would hide.
std::string WhatTheyShow(const StoredComparison& comparison) {
  if (comparison.has_failed)
    return "a run that fails measures nothing, and those beside it may not be what they seem: mend what fails, and "
           "measure again";
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
             "next two may differ by more (memory layout, clocks), which no number of iterations can show; to compare "
             "the commands: gapless compare -- A -- B";
    case Sampling::kUnknown: break;
  }
  if (comparison.a_count == 1 && comparison.b_count == 1)
    return "each side is a single number, and the files do not record how much it varies; to compare the commands: "
           "gapless compare -- A -- B";
  return "the files do not record what a value is; if each value is a process of its own, add --values process";
}

std::string StoredText(const StoredAnswer& answer) {
  std::string text = StrCat(Headline(answer), "\n\n");
  for (const FailedSide& failed : answer.failed)
    text += StrCat("  ", failed.side, "  ", DescribeFailed(failed.runs), "\n");
  if (!answer.failed.empty()) text += "\n";
  text += StrCat(answer.all.size() == 1 ? SidesText(answer.all[0]) : TableText(answer), "\n", FormulaText(answer));
  for (const std::string& left_out : answer.left_out) text += StrCat("not compared: ", left_out, "\n");
  for (const std::string& only : {OnlyInText("A", answer.only_in_a), OnlyInText("B", answer.only_in_b)})
    if (!only.empty()) text += StrCat(only, "\n");
  if (answer.all.size() == 1) text += EvidenceText(answer.all[0]);
  text += ThresholdText(answer);
  return text + Wrapped(WhatTheyShow(answer.Main()), 0, kTextColumns) + "\n";
}

}  // namespace gapless::internal
