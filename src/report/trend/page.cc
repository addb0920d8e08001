// SPDX-License-Identifier: Apache-2.0
// Fills the page of web/ with trends: the document of --json, and what the page shows besides. How the page reads it:
// web/src/trend/data.ts.
//
// Numbers and words are made here, so that the page, the text and the pictures say the same; the page draws. Where
// scripts do not run, the pictures and a table stand in its place. Metrics that were measured in the same runs share
// one list of times and commits, which would otherwise be most of the page.
#include "report/page.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "base/described_json.h"
#include "base/strings.h"
#include "report/trend/page_data.h"
#include "report/trend/report.h"
#include "report/trend/view.h"
#include "report/trend/words.h"

namespace gapless::internal {
namespace {

constexpr int64_t kPageTimeNs = 1'000'000;
constexpr int kChartDigits = 6;  // after the first one, of what is drawn

// Rounds a value for the page: a chart needs fewer digits than a double has, and a page holds tens of thousands of
// values.
double Rounded(double value) {
  char buffer[40];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific, kChartDigits).ptr;
  std::from_chars(buffer, end, value);
  return value;
}

// Returns true if both metrics have a value in the same runs.
bool SameRuns(const Trend& a, const Trend& b) {
  const auto same = [](const TrendPoint& x, const TrendPoint& y) {
    return x.unix_ns == y.unix_ns && x.commit == y.commit;
  };
  return std::equal(a.points.begin(), a.points.end(), b.points.begin(), b.points.end(), same);
}

// Times are in ms, which a browser's dates take.
TrendPageRuns RunsOf(const Trend& trend) {
  TrendPageRuns runs;
  for (const TrendPoint& point : trend.points) {
    constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    runs.times.push_back(point.unix_ns ? static_cast<double>(*point.unix_ns / kPageTimeNs) : kUnknown);
    runs.commits.push_back(ShortCommit(point.commit));
  }
  return runs;
}

// Gives the words of a change; `within` only if its place is uncertain.
TrendPageChange ChangeOf(const Trend& trend, const ChangePoint& change) {
  TrendPageChange words{.when = WhenOf(trend, change.index),
                        .size = SizeOf(change),
                        .levels = FromTo(change.before, change.after, trend.unit),
                        .commits = CommitsText(trend, change)};
  if (change.first != change.last)
    words.within = StrCat(WhenOf(trend, change.first), " to ", WhenOf(trend, change.last));
  return words;
}

// Gives a metric's values and limits in the unit that is shown, of which `unit_size` is the size in the metric's own.
// The drift stands here only if it is worth reporting. `runs`: index of the metric's list of runs.
TrendPageMetric MetricOf(const Trend& trend, size_t runs) {
  const TrendView view = ViewOf(trend);
  const double size = view.unit.size;
  TrendPageMetric metric{.unit = std::string(view.unit.name),
                         .unit_size = size,
                         .last = AmountOf(trend.points.back().value, trend.unit),
                         .low = Rounded(view.low / size),
                         .high = Rounded(view.high / size),
                         .runs = static_cast<int64_t>(runs)};
  for (const TrendPoint& point : trend.points) metric.values.push_back(Rounded(point.value / size));
  for (const ChangePoint& change : trend.changes) metric.changes.push_back(ChangeOf(trend, change));
  if (std::string text = DriftText(trend); !text.empty())
    metric.drift = {.text = std::move(text),
                    .from = Rounded(trend.drift_line->from / size),
                    .to = Rounded(trend.drift_line->to / size)};
  return metric;
}

}  // namespace

// A list of runs is shared only with the metric before, which is enough for metrics of one benchmark.
std::string TrendPageData(const TrendReport& report) {
  const std::vector<Trend>& trends = report.trends;
  TrendPage page{.subject = TrendHeading(report), .what = report.is_history ? "run" : "value"};
  for (size_t i = 0; i < trends.size(); ++i) {
    if (i == 0 || !SameRuns(trends[i], trends[i - 1])) page.runs.push_back(RunsOf(trends[i]));
    page.metrics.push_back(MetricOf(trends[i], page.runs.size() - 1));
  }
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Key("trend");
  WriteTrend(json, report);
  json.Key("page");
  WriteJson(json, page);
  json.EndObject();
  return out;
}

namespace {

std::string MarkupRow(const std::vector<std::string>& texts) {
  std::string out = "<tr>";
  for (const std::string& text : texts) out += StrCat("<td>", XmlEscaped(text), "</td>");
  return out + "</tr>\n";
}

// Returns the same report as plain markup, for readers without scripts.
std::string WithoutScript(const TrendReport& report) {
  std::string out = StrCat("<main class=\"wrap\">\n<h1>", XmlEscaped(TrendHeading(report)), "</h1>\n");
  for (const std::string& note : report.notes) out += StrCat("<p>", XmlEscaped(note), "</p>\n");
  out += TrendSvg(report) + "<table>\n" + MarkupRow({"metric", "since", "change", "level", "kind", "commits"});
  for (const Trend& trend : report.trends) {
    for (const ChangePoint& change : trend.changes)
      out += MarkupRow({trend.metric, WhenOf(trend, change.index), SizeOf(change),
                        FromTo(change.before, change.after, trend.unit), std::string(WordOf(KindOf(trend, change))),
                        CommitsText(trend, change)});
    if (const std::string drift = DriftText(trend); !drift.empty()) out += MarkupRow({trend.metric, drift});
  }
  return out + "</table>\n</main>";
}

}  // namespace

std::string TrendHtml(const TrendReport& report) {
  return FilledPage(PageWithCharts(), TrendPageData(report), WithoutScript(report));
}

}  // namespace gapless::internal
