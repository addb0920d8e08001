// SPDX-License-Identifier: Apache-2.0
// The report as Markdown, to be put into an issue, a merge request or a wiki. All texts are escaped: a recording cannot
// put markup into it. Findings are grouped by severity, and keep the numbers of the ranked list.
#include "base/strings.h"
#include "report/about.h"
#include "report/amounts.h"
#include "report/layout_text.h"
#include "report/markdown_text.h"
#include "report/renderer.h"

namespace gapless::internal::markdown_renderer {
namespace {

// Returns text as code. Backquotes and bars are left out: code cannot escape the first, and tables break at the second.
std::string Code(std::string_view text) {
  std::string out = "`";
  for (const char c : Printable(text))
    if (c != '`' && c != '|') out += c;
  return out + "`";
}

double ShareIn(int64_t part, int64_t wall) {
  return wall > 0 ? static_cast<double>(part) / static_cast<double>(wall) : 0;
}

// Appends the facts as one line, then the class of the run and what could not be read.
void AppendHeader(std::string& out, const Report& report) {
  const RunSummary& summary = report.summary;
  out += StrCat("# Bottlenecks of ", MarkdownEscaped(SubjectOf(report.run)), "\n\n");
  std::vector<std::string> facts;
  for (const DeviceBreakdown& device : summary.breakdown) {
    const std::string name = device.device_name.empty() ? "GPU" : MarkdownEscaped(device.device_name);
    if (facts.empty()) facts.push_back(StrCat(summary.breakdown.size(), " × ", name));
  }
  if (summary.steps > 0) facts.push_back(StrCat(summary.steps, summary.steps == 1 ? " step" : " steps"));
  if (summary.step_ns)
    facts.push_back(StrCat("median step ", FormatDuration(summary.step_ns->median), ", p95 ",
                           FormatDuration(summary.step_ns->p95)));
  for (const std::string& fact : {BusyText(summary), MfuText(summary), ScalingText(summary), LayoutText(report.tables)})
    if (!fact.empty()) facts.push_back(fact);
  out += Join(facts, " · ") + "\n";
  if (!summary.run_class.empty()) {
    const std::string limit = summary.limit.empty() ? "" : StrCat(" (", summary.limit, " bound)");
    out += StrCat("\n**", VerdictText(summary), "**", limit, ": ", MarkdownEscaped(summary.class_evidence), ".\n");
  }
  for (const Error& error : report.failures) out += StrCat("\n> not read: ", MarkdownEscaped(error.ToString()), "\n");
}

// Shares are of each device's own analysed time, so every row adds up to 100 %.
void AppendBreakdown(std::string& out, const RunSummary& summary) {
  if (summary.breakdown.empty()) return;
  out +=
      "\n## Where the time goes\n\n| | compute | communication | copy | idle | idle: data | launch | sync | host | "
      "unknown |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";
  const auto row = [&](const std::string& name, const DeviceBreakdown& device_breakdown) {
    out += "| " + name;
    for (const int64_t part :
         {device_breakdown.compute_ns, device_breakdown.exposed_comm_ns, device_breakdown.exposed_copy_ns,
          device_breakdown.idle_ns, device_breakdown.idle_data_ns, device_breakdown.idle_launch_ns,
          device_breakdown.idle_sync_ns, device_breakdown.idle_host_ns, device_breakdown.idle_unknown_ns})
      out += StrCat(" | ", FormatPercent(ShareIn(part, device_breakdown.wall_ns)));
    out += " |\n";
  };
  if (summary.breakdown.size() > 1)
    for (const DeviceBreakdown& device : summary.breakdown)
      row(device.rank ? StrCat("rank ", *device.rank) : StrCat("GPU ", device.device), device);
  row("all", summary.total);
}

// `number`: its place in the list; 0: none.
void AppendOne(std::string& out, int number, const Bottleneck& found, const Report& report) {
  out += StrCat("\n### ", number > 0 ? StrCat(number, ". ") : "", MarkdownEscaped(ToString(found.type)), ": ",
                MarkdownEscaped(found.title), "\n\n");
  std::vector<std::string> facts = {StrCat("severity ", FormatNumber(found.severity, 2))};
  if (found.share_of_step) facts.push_back(ShareText(report.summary, *found.share_of_step));
  if (found.gain) facts.push_back(StrCat("expected speedup ", GainText(*found.gain)));
  if (found.gain) facts.push_back(UntestedText(report.summary, *found.gain));
  if (found.apart) facts.emplace_back(ApartText(report.summary));
  if (!found.cured_by.empty()) facts.push_back(StrCat("cured by the fix of ", Code(found.cured_by)));
  std::erase(facts, "");
  if (report.cost && found.gain) {
    const auto saved = AmountTexts(SavingPerMonth(*report.cost, *found.gain, found.step_left).expected);
    if (!saved.empty()) facts.push_back(StrCat("saves ", Join(saved, ", "), " a month"));
  }
  if (!found.part_of.empty()) facts.push_back(StrCat("its time is part of ", Code(found.part_of)));
  out += StrCat(Join(facts, " · "), " · rule ", Code(found.id), "\n\n", MarkdownEscaped(found.description), "\n\n");
  for (const Evidence& evidence : found.evidence) {
    out += StrCat("- ", MarkdownEscaped(evidence.text));
    if (!evidence.source.empty()) out += StrCat(" (", Code(evidence.source), ")");
    out += "\n";
  }
  if (!found.also.empty()) out += StrCat("- ", MarkdownEscaped(found.also), "\n");
  if (found.recommendations.empty()) return;
  out += "\n**Recommendations**\n\n";
  for (const Recommendation& advice : found.recommendations) {
    out += StrCat("- ", MarkdownEscaped(advice.text),
                  advice.effort.empty() ? "" : StrCat(" (", MarkdownEscaped(advice.effort), ")"),
                  advice.code.empty() ? "" : ":", "\n");
    for (const std::string_view line : Split(advice.code, '\n'))
      if (!line.empty()) out += StrCat("  ", Code(line), "\n");
  }
}

// Appends the bottlenecks whose level is in (above, up_to]: 1 critical, kCriticalSeverity a warning, 0 minor. A heading
// without findings is left out.
void AppendGroup(std::string& out, std::string_view title, const Report& report, double above, double up_to) {
  bool any = false;
  const std::vector<int> places = PlacesOf(report.diagnosis.bottlenecks);
  const auto& all = report.diagnosis.bottlenecks;
  for (size_t i = 0; i < all.size(); ++i) {
    const bool critical = all[i].severity > kCriticalSeverity, warning = all[i].severity >= kWarningSeverity;
    const double level = critical ? 1 : warning ? kCriticalSeverity : 0;
    if (level <= above || level > up_to) continue;
    if (!any) out += StrCat("\n## ", title, "\n");
    any = true;
    AppendOne(out, places[i], all[i], report);
  }
}

// Appends the gain of the whole plan, and what it saves if a price was given.
void AppendImprovement(std::string& out, const Report& report) {
  const auto& gain = report.summary.estimated_speedup;
  if (!gain) return;
  const std::string trust = MarkdownEscaped(TrustText(report.summary, report.diagnosis.bottlenecks));
  out += StrCat("\n## Estimated Performance Improvement\n\n**", GainText(*gain), "** by ",
                TogetherText(report.summary, report.diagnosis.bottlenecks), " (expected, with bounds)",
                trust.empty() ? "" : "; ", trust, ".\n");
  if (!report.cost) return;
  const RunCost& cost = *report.cost;
  const Saving saving = SavingPerMonth(cost, *gain);
  out += StrCat("\nThat saves ", Join(AmountTexts(saving.expected), ", "), " a month of ",
                Join(AmountTexts(cost.month), ", "), ", on ", cost.gpus, cost.gpus == 1 ? " GPU" : " GPUs", " for ",
                FormatNumber(cost.hours_per_month, 0), " hours a month",
                cost.watts_are_limit ? "; energy at the boards' power limit, so at most" : "", ".\n");
  if (cost.step) out += StrCat("\nA step costs ", Join(AmountTexts(*cost.step), ", "));
  if (cost.epoch) out += StrCat(", an epoch ", Join(AmountTexts(*cost.epoch), ", "));
  if (cost.step) out += ".\n";
}

std::string Render(const Report& report, const RenderOptions&) {
  std::string out;
  AppendHeader(out, report);
  AppendBreakdown(out, report.summary);
  if (report.diagnosis.bottlenecks.empty()) out += "\nNo bottleneck found.\n";
  AppendGroup(out, "Critical Issues (severity >0.7)", report, kCriticalSeverity, 1);
  AppendGroup(out, "Warnings (severity 0.4-0.7)", report, 0, kCriticalSeverity);
  AppendGroup(out, "Minor (severity <0.4)", report, -1, 0);
  AppendImprovement(out, report);
  return out;
}

}  // namespace

RENDERER(markdown) = {
    .name = "markdown", .help = "Markdown, for an issue or a wiki", .extension = ".md", .render = Render};

}  // namespace gapless::internal::markdown_renderer
