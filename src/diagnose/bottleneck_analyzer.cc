// SPDX-License-Identifier: Apache-2.0
// Checks all rules, sorts their findings by severity, and prints the report by levels of severity.
#include "diagnose/bottleneck_analyzer.h"

#include <algorithm>

#include "base/strings.h"
#include "diagnose/rule.h"

namespace gapless::internal {
namespace {

void SortBySeverity(std::vector<Bottleneck>& all) {
  std::stable_sort(all.begin(), all.end(),
                   [](const Bottleneck& a, const Bottleneck& b) { return a.severity > b.severity; });
}

void AppendSection(std::string_view heading, std::span<const Bottleneck> bottlenecks, bool (*belongs)(double severity),
                   std::string& report) {
  report += StrCat(heading, "\n");
  size_t number = 0;
  for (const Bottleneck& bottleneck : bottlenecks) {
    if (!belongs(bottleneck.severity)) continue;
    report += StrCat(++number, ". ", ToString(bottleneck.type), " (severity ", FormatNumber(bottleneck.severity, 2),
                     "): ", bottleneck.title, "\n");
    report += StrCat("   ", bottleneck.description, "\n");
    for (const Evidence& evidence : bottleneck.evidence)
      report += StrCat("   - ", evidence.text, evidence.source.empty() ? "" : StrCat(" (", evidence.source, ")"), "\n");
    for (const Recommendation& advice : bottleneck.recommendations) report += StrCat("   -> ", advice.text, "\n");
  }
  report += number == 0 ? "none\n\n" : "\n";
}

bool CountedElsewhere(const Bottleneck& bottleneck, std::span<const Bottleneck> all) {
  return std::any_of(all.begin(), all.end(), [&](const Bottleneck& other) {
    return !bottleneck.part_of.empty() && other.id == bottleneck.part_of && other.gain;
  });
}

// Each gain is of what those above it leave, so that they multiply.
double Combined(std::span<const Bottleneck> all, double Gain::*bound) {
  double factor = 1;
  for (const Bottleneck& bottleneck : all)
    if (bottleneck.gain && bottleneck.gain->expected > 1 && !bottleneck.apart && !CountedElsewhere(bottleneck, all))
      factor *= (*bottleneck.gain).*bound;
  return factor;
}

}  // namespace

std::vector<Bottleneck> CheckRules(Tables& tables, std::span<const std::string_view> ids) {
  std::vector<Bottleneck> all;
  for (const Rule* rule : AllRules()) {
    if (std::find(ids.begin(), ids.end(), rule->id) == ids.end()) continue;
    Result<std::vector<Bottleneck>> found = CheckRule(*rule, tables);
    if (!found) continue;
    for (Bottleneck& bottleneck : *found) all.push_back(std::move(bottleneck));
  }
  SortBySeverity(all);
  return all;
}

std::vector<Bottleneck> BottleneckAnalyzer::AnalyzeAll(Tables& tables) {
  return MostSevere(Diagnose(tables).bottlenecks);
}

std::vector<Bottleneck> BottleneckAnalyzer::MostSevere(std::vector<Bottleneck> all) {
  SortBySeverity(all);
  if (all.size() > kMax) all.resize(kMax);
  return all;
}

std::string BottleneckAnalyzer::GenerateReport(std::span<const Bottleneck> bottlenecks) {
  std::string report;
  AppendSection(
      "Critical Issues (severity >0.7)", bottlenecks, [](double severity) { return severity > kCriticalSeverity; },
      report);
  AppendSection(
      "Warnings (severity 0.4-0.7)", bottlenecks,
      [](double severity) { return severity >= kWarningSeverity && severity <= kCriticalSeverity; }, report);
  report += "Estimated Performance Improvement\n";
  if (std::none_of(bottlenecks.begin(), bottlenecks.end(),
                   [](const Bottleneck& bottleneck) { return bottleneck.gain.has_value(); }))
    return report + "none can be estimated\n";
  return report + StrCat(FormatNumber(Combined(bottlenecks, &Gain::expected), 2), "x (",
                         FormatNumber(Combined(bottlenecks, &Gain::low), 2), "-",
                         FormatNumber(Combined(bottlenecks, &Gain::high), 2), "x) if all of the above are fixed\n");
}

}  // namespace gapless::internal
