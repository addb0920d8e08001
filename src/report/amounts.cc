// SPDX-License-Identifier: Apache-2.0
// Formats gains, costs, utilisation and scaling for all formats of the report.
//
// A number never shows more digits than it supports: factors have at most two decimals, money three significant digits.
// Gains below kMinBought would be shown as 1.00×; such a bottleneck gets no place in the list of what to fix.
#include "report/amounts.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "predict/plan.h"

namespace gapless::internal {
namespace {

// Three digits that mean something, thousands separated: "41,300", "12.3", "0.0021".
std::string ThreeDigits(double value) {
  if (value <= 0) return "0";
  const int magnitude = static_cast<int>(std::floor(std::log10(value * (1 + 5e-4))));  // 999.6 is shown as 1,000
  if (magnitude < 2) return FormatNumber(value, std::min(2 - magnitude, 12));
  const double unit = std::pow(10, magnitude - 2);
  return FormatCount(std::llround(std::round(value / unit) * unit));
}

// "1", "1 and 2", "1, 2 and 4".
std::string Enumerated(std::vector<std::string> words) {
  if (words.size() < 2) return Join(words, "");
  const std::string last = words.back();
  words.pop_back();
  return StrCat(Join(words, ", "), " and ", last);
}

// The places of bottlenecks with these ids.
std::vector<std::string> NumbersOf(const std::vector<std::string>& ids, const std::vector<Bottleneck>& bottlenecks) {
  const std::vector<int> places = PlacesOf(bottlenecks);
  std::vector<std::string> numbers;
  for (size_t i = 0; i < bottlenecks.size(); ++i)
    if (std::find(ids.begin(), ids.end(), bottlenecks[i].id) != ids.end()) numbers.push_back(StrCat(places[i]));
  return numbers;
}

// Predictions are tested apart on machines with a GPU and without; this names the kind that the run is of.
std::string_view MachinesOf(const RunSummary& summary) { return summary.total.wall_ns > 0 ? "GPUs" : "CPUs"; }

}  // namespace

std::string FactorText(double value) { return FormatNumber(value, value < 9.995 ? 2 : 1) + "×"; }

std::string GainText(const Gain& gain) {
  return StrCat(FactorText(gain.expected), " (", FormatNumber(gain.low, 2), "–", FormatNumber(gain.high, 2), ")");
}

bool IsToFix(const Bottleneck& bottleneck) { return !bottleneck.gain || bottleneck.gain->expected >= kMinBought; }

// Numbers count only what the reader can act on, so that "fixing 1 and 2" is about the first two of the list.
std::vector<int> PlacesOf(const std::vector<Bottleneck>& bottlenecks) {
  std::vector<int> places;
  int next = 1;
  for (const Bottleneck& bottleneck : bottlenecks)
    places.push_back(bottleneck.cured_by.empty() && IsToFix(bottleneck) ? next++ : 0);
  return places;
}

std::string TogetherText(const RunSummary& summary, const std::vector<Bottleneck>& bottlenecks) {
  if (!summary.together) return {};
  const std::vector<std::string> numbers = NumbersOf(summary.together->ids, bottlenecks);
  return StrCat("fixing ", Enumerated(numbers), numbers.size() == 1 ? "" : " together");
}

// Joins up to three remarks: which parts were not replayed, which bottlenecks are left out, and which fixes are
// untested.
std::string TrustText(const RunSummary& summary, const std::vector<Bottleneck>& bottlenecks) {
  if (!summary.together) return {};
  const Combination& together = *summary.together;
  std::vector<std::string> remarks;
  const std::vector<std::string> left_out = NumbersOf(together.left_out, bottlenecks),
                                 estimated = NumbersOf(together.estimated, bottlenecks);
  if (estimated.size() == together.ids.size())
    remarks.emplace_back("from the affected time, not replayed");
  else if (!estimated.empty())
    remarks.push_back(StrCat(Enumerated(estimated), " from the affected time, not replayed"));
  if (!left_out.empty())
    remarks.push_back(StrCat("without ", Enumerated(left_out), left_out.size() == 1 ? ", which " : ", each of which ",
                             ApartText(summary)));
  if (!together.untested.empty())
    remarks.push_back(StrCat(Enumerated(together.untested), " untested on ", MachinesOf(summary)));
  return Join(remarks, "; ");
}

std::string_view ApartText(const RunSummary& summary) {
  return summary.workload == "training" ? "changes the training" : "changes what is computed at once";
}

std::string UntestedText(const RunSummary& summary, const Gain& gain) {
  return gain.tested_programs == 0 ? StrCat("untested on ", MachinesOf(summary)) : "";
}

std::string_view SeverityWord(double severity) {
  return severity > kCriticalSeverity ? "critical" : severity >= kWarningSeverity ? "warning" : "minor";
}

std::string_view SeverityWord(const Bottleneck& found) {
  return !IsToFix(found) ? "minor" : SeverityWord(found.severity);
}

// A figure from less than half of the matrix time would mislead, so it is left out.
std::string BusyText(const RunSummary& summary) {
  if (!summary.gpu_busy_share) return {};
  return StrCat("GPU busy ", summary.gpu_busy_is_least ? "at least " : "", FormatPercent(*summary.gpu_busy_share));
}

std::string ShareText(const RunSummary& summary, double share) {
  return StrCat(FormatPercent(share), summary.steps > 0 ? " of the step" : " of the time");
}

std::string VerdictText(const RunSummary& summary) {
  if (summary.run_class != "unknown") return summary.run_class;
  return summary.gpu_busy_is_least ? "GPU work missing from the recording" : "idle, cause not recorded";
}

std::string MfuText(const RunSummary& summary) {
  constexpr double kAll = 0.995,
                   kTooLittle = 0.5;  // shares of matrix time counted; less than kTooLittle makes the figure misleading
  if (!summary.mfu || summary.mfu_coverage < kTooLittle) return {};
  return StrCat("MFU ", summary.mfu_coverage < kAll ? "≥ " : "", FormatPercent(*summary.mfu));
}

// Without a run on one GPU the efficiency is an upper bound.
std::string ScalingText(const RunSummary& summary) {
  if (!summary.scaling) return {};
  const Scaling& scaling = *summary.scaling;
  return StrCat("scaling efficiency ", scaling.estimated ? "at most " : "", FormatPercent(scaling.efficiency));
}

std::string MoneyText(double money) { return "$ " + ThreeDigits(money); }

std::vector<std::string> AmountTexts(const Amount& amount) {
  std::vector<std::string> texts;
  if (amount.money) texts.push_back(MoneyText(*amount.money));
  if (amount.kwh) texts.push_back(ThreeDigits(*amount.kwh) + " kWh");
  if (amount.carbon_kg) texts.push_back(ThreeDigits(*amount.carbon_kg) + " kg CO₂");
  return texts;
}

}  // namespace gapless::internal
