// SPDX-License-Identifier: Apache-2.0
// Prints a judgement as text, Markdown, JUnit, SARIF and GitHub workflow commands. SARIF viewers require a file for
// each result: the script of the command, else the repository's root.
//
// The answer for GitHub, where it becomes an annotation:
//
//   ::warning title=gapless gate::samples_per_second: 812.5: cannot tell, too few runs to learn the level and …
#include "report/gate/report.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/strings.h"
#include "report/markdown_text.h"
#include "report/sarif.h"

namespace gapless::internal {

std::string_view NameOf(GateKind kind) {
  switch (kind) {
    case GateKind::kFine: return "fine";
    case GateKind::kRegression: return "regression";
    case GateKind::kImprovement: return "improvement";
    case GateKind::kCannotTell: break;
  }
  return "cannot_tell";
}

namespace {

// Writes a value with about five significant digits.
std::string Number(double value, const std::string& unit) {
  const double size = std::abs(value);
  return StrCat(FormatNumber(value, size >= 100 ? 1 : size >= 1 ? 3 : 5), unit.empty() ? "" : " ", unit);
}

std::string Signed(double share) { return StrCat(share >= 0 ? "+" : "-", FormatPercent(std::abs(share))); }

// States one metric: value, baseline, change with its interval, verdict. Every format uses this sentence.
std::string Sentence(const MetricJudgement& metric) {
  std::string text = StrCat(metric.metric, ": ", Number(metric.current, metric.unit));
  if (metric.baseline) text += StrCat(", baseline ", Number(*metric.baseline, metric.unit));
  if (metric.change) text += StrCat(" (", Signed(*metric.change));
  if (metric.change_low && metric.change_high)
    text += StrCat(", between ", Signed(*metric.change_low), " and ", Signed(*metric.change_high));
  if (metric.change) text += ")";
  switch (metric.kind) {
    case GateKind::kFine: text += ": fine"; break;
    case GateKind::kRegression:
      text += metric.confirmed ? ": a regression, confirmed by fresh runs" : ": a regression";
      break;
    case GateKind::kImprovement: text += ": an improvement"; break;
    case GateKind::kCannotTell:
      text += StrCat(": cannot tell", metric.reason.empty() ? "" : ", ", metric.reason);
      break;
  }
  return text;
}

// States the smallest change that would have been seen, which limits what "fine" means.
std::string Detectable(const MetricJudgement& metric) {
  if (!metric.mde) return "";
  return StrCat("could have seen ", FormatPercent(*metric.mde),
                metric.runs_to_alarm ? StrCat(", sure after ", *metric.runs_to_alarm, " runs like it") : "",
                metric.noise ? StrCat(" (noise of a run ", FormatPercent(*metric.noise), ")") : "");
}

// Escapes text for GitHub workflow commands, in which a line end would begin another command.
std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '%' ? "%25" : c == '\n' ? "%0A" : c == '\r' ? "%0D" : std::string(1, c);
  return out;
}

}  // namespace

// Prints the baseline, a block per metric, the rate of false alarms, notes, and last what to do.
std::string GateText(const Judgement& judgement) {
  std::string text = StrCat("against ", judgement.against, "\n");
  for (const MetricJudgement& metric : judgement.metrics) {
    text += StrCat("  ", Sentence(metric), "\n");
    if (const std::string seen = Detectable(metric); !seen.empty()) text += StrCat("    ", seen, "\n");
  }
  if (!judgement.judged.empty()) text += StrCat("  ", judgement.judged, "\n");
  if (judgement.false_alarm_rate)
    text += StrCat("  false alarms: at most ", FormatPercent(*judgement.false_alarm_rate), " over ",
                   judgement.false_alarm_over, "\n");
  for (const std::string& note : judgement.notes) text += StrCat("  ", note, "\n");
  return StrCat(text, NextStepOf(judgement), "\n");
}

// Writes a table with a row per metric, under a heading that is the verdict.
std::string GateMarkdown(const Judgement& judgement) {
  const std::string_view word = judgement.Kind() == GateKind::kRegression    ? "Performance regression"
                                : judgement.Kind() == GateKind::kImprovement ? "Faster"
                                : judgement.Kind() == GateKind::kFine        ? "No performance regression"
                                : judgement.IsPending()                      ? "Performance: an alarm is pending"
                                                                             : "Performance: cannot tell";
  std::string text =
      StrCat("### ", word, "\n\nAgainst ", MarkdownEscaped(judgement.against),
             ".\n\n| metric | now | baseline | change | | could have seen |\n|---|---|---|---|---|---|\n");
  for (const MetricJudgement& metric : judgement.metrics)
    text += StrCat("| ", MarkdownEscaped(metric.metric), " | ", Number(metric.current, metric.unit), " | ",
                   metric.baseline ? Number(*metric.baseline, metric.unit) : "", " | ",
                   metric.change ? Signed(*metric.change) : "", " | ",
                   metric.kind == GateKind::kCannotTell ? StrCat("cannot tell: ", MarkdownEscaped(metric.reason))
                                                        : std::string(NameOf(metric.kind)),
                   metric.confirmed ? ", confirmed" : "", " | ", metric.mde ? FormatPercent(*metric.mde) : "", " |\n");
  text += StrCat("\n", NextStepOf(judgement), ".");
  if (!judgement.judged.empty()) text += StrCat(" What was ", judgement.judged, ".");
  if (judgement.false_alarm_rate)
    text += StrCat(" False alarms: at most ", FormatPercent(*judgement.false_alarm_rate), " over ",
                   judgement.false_alarm_over, ".");
  for (const std::string& note : judgement.notes) text += StrCat(" ", MarkdownEscaped(note), ".");
  return text + "\n";
}

// Writes a test case per metric. "Cannot tell" is a skipped test: neither passed nor failed.
std::string GateJunit(const Judgement& judgement) {
  const auto failures = std::count_if(judgement.metrics.begin(), judgement.metrics.end(),
                                      [](const MetricJudgement& m) { return m.kind == GateKind::kRegression; });
  const auto skipped = std::count_if(judgement.metrics.begin(), judgement.metrics.end(),
                                     [](const MetricJudgement& m) { return m.kind == GateKind::kCannotTell; });
  std::string text = StrCat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"gapless gate\" tests=\"",
                            judgement.metrics.size(), "\" failures=\"", failures, "\" skipped=\"", skipped, "\">\n");
  for (const MetricJudgement& metric : judgement.metrics) {
    text += StrCat("  <testcase classname=\"performance\" name=\"", XmlEscaped(metric.metric), "\">");
    if (metric.kind == GateKind::kRegression)
      text += StrCat("<failure message=\"", XmlEscaped(Sentence(metric)), "\">", XmlEscaped(NextStepOf(judgement)),
                     "</failure>");
    if (metric.kind == GateKind::kCannotTell) text += StrCat("<skipped message=\"", XmlEscaped(metric.reason), "\"/>");
    text += StrCat("<system-out>", XmlEscaped(StrCat(Sentence(metric), "; against ", judgement.against)),
                   "</system-out></testcase>\n");
  }
  return text + "</testsuite>\n";
}

// Writes a result per regression (SARIF 2.1.0); no result means that nothing got slower. Viewers require a location for
// every result: the file of the command, else the repository's root.
std::string GateSarif(const Judgement& judgement) {
  constexpr std::string_view kRule = "performance-regression";
  sarif::Run run;
  run.tool.driver.rules.push_back({.id = std::string(kRule), .title = {"A metric is worse than its baseline"}});
  for (const MetricJudgement& metric : judgement.metrics) {
    if (metric.kind != GateKind::kRegression) continue;
    sarif::Result& result = run.results.emplace_back();
    result.rule = kRule;
    result.message.text = StrCat(Sentence(metric), ". ", NextStepOf(judgement));
    result.locations.emplace_back();
    if (!judgement.place.empty()) result.locations[0].physical.artifact.uri = sarif::UriOf(judgement.place);
  }
  return sarif::Write(std::move(run));
}

// Writes a workflow command per metric, which GitHub shows as an annotation.
std::string GateGithub(const Judgement& judgement) {
  std::string text;
  for (const MetricJudgement& metric : judgement.metrics) {
    const std::string_view level = metric.kind == GateKind::kRegression   ? "error"
                                   : metric.kind == GateKind::kCannotTell ? "warning"
                                                                          : "notice";
    text += StrCat("::", level, " title=gapless gate::", Escaped(Sentence(metric)), "\n");
  }
  return text;
}

}  // namespace gapless::internal
