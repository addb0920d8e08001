// SPDX-License-Identifier: Apache-2.0
#include "report/amounts.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"

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

}  // namespace

std::string FactorText(double value) { return FormatNumber(value, value < 9.995 ? 2 : 1) + "×"; }

std::string GainText(const Gain& gain) {
  return StrCat(FactorText(gain.expected), " (", FormatNumber(gain.low, 2), "–", FormatNumber(gain.high, 2), ")");
}

std::string TogetherText(const RunSummary& summary, const std::vector<Bottleneck>& bottlenecks) {
  if (!summary.together)
    return StrCat("fixing ", bottlenecks.size() == 2 ? "both" : StrCat("all ", bottlenecks.size()), " together");
  std::vector<std::string> places;
  for (size_t i = 0; i < bottlenecks.size(); ++i)
    for (const std::string& id : summary.together->ids)
      if (bottlenecks[i].id == id) places.push_back(StrCat(i + 1));
  if (places.size() == 1) return StrCat("fixing ", places[0]);
  const std::string last = places.back();
  places.pop_back();
  return StrCat("fixing ", Join(places, ", "), " and ", last, " together");
}

std::string TrustText(const RunSummary& summary) {
  if (!summary.together) return ", from the time at stake";
  if (!summary.together->tested_within) return {};
  const Combination& together = *summary.together;
  return StrCat(together.tested_of_this_kind ? ", predictions of this kind" : ", tested predictions", " were within ",
                FormatPercent(*together.tested_within), " in half of ", together.tested_pairs, " tests");
}

std::string_view SeverityWord(double severity) {
  return severity > kCriticalSeverity ? "critical" : severity >= kWarningSeverity ? "warning" : "minor";
}

std::string MfuText(const RunSummary& summary) {
  constexpr double kAll = 0.995, kTooLittle = 0.5;  // of matrix time counted; less makes the figure misleading
  if (!summary.mfu || summary.mfu_coverage < kTooLittle) return {};
  return StrCat("MFU ", summary.mfu_coverage < kAll ? "≥ " : "", FormatPercent(*summary.mfu));
}

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
