// SPDX-License-Identifier: Apache-2.0
// The command `gapless trend`: reads a history or a file of numbers, finds changes of level and drift, and prints them
// or draws them as SVG or HTML.
//
// A history gives one series: the runs that can be compared with the newest one, on one branch. Runs that are left out
// are counted in a note. A file gives all of its series, in its order. Pictures are additions to the text, unless a
// picture goes to standard output. The exit status does not depend on the trends: `gapless gate` is the command that
// fails a build.
#include <algorithm>

#include "base/strings.h"
#include "cli/benchmark.h"
#include "cli/history_actions.h"
#include "cli/output.h"
#include "flows/trends.h"
#include "proof/trend_runs.h"
#include "report/trend/report.h"
#include "store/result_reader.h"

namespace gapless::internal::trend_command {
namespace {

struct TrendArguments : Arguments, HistoryOptions {
  std::optional<std::string> file{}, host{};
  std::string svg{}, html{};  // empty: not given
  bool higher_is_better = false, lower_is_better = false;
  static constexpr OptionList kOptions{
      kDbOption,
      Text<&HistoryOptions::branch>("NAME", "Show runs of this branch (main)"),
      kLabelOption,
      Text<&TrendArguments::host>("NAME", "Select runs on this host"),
      List<&HistoryOptions::metric>("LIST", "Show these metrics (throughput, step time, utilisation, memory)"),
      kSinceOption,
      kUntilOption,
      Number<&HistoryOptions::limit>("N", "Select the newest N of these runs", 1),
      kColumnOption,
      Flag<&TrendArguments::higher_is_better>("Treat a rise as an improvement, if the metric's direction is unknown"),
      Flag<&TrendArguments::lower_is_better>("Treat a fall as an improvement, if the metric's direction is unknown"),
      Text<&TrendArguments::svg>("FILE", "Write an SVG chart in addition, with a panel for each metric"),
      Text<&TrendArguments::html>("FILE", "Write an HTML page in addition"),
  };
  static constexpr WordList kWords{
      Word<&TrendArguments::file>("FILE", "a file of numbers, oldest first, instead of the history").Optional().Path()};
};

Result<TrendReport> OfHistory(const TrendArguments& arguments, const Session& session) {
  return TrendOfHistory({.db = arguments.db,
                         .filter = FilterOf(arguments),
                         .host = arguments.host,
                         .metrics = arguments.metric,
                         .cancel = session.cancel});
}

// Reads a file of numbers, oldest first: each of its series is a history without times and commits.
Result<TrendReport> OfFile(const TrendArguments& arguments) {
  const std::string& path = *arguments.file;
  const auto option =
      FirstGiven<&HistoryOptions::db, &HistoryOptions::branch, &HistoryOptions::label, &TrendArguments::host,
                 &HistoryOptions::since, &HistoryOptions::until, &HistoryOptions::limit>(arguments);
  if (!option.empty())
    return Fail(ErrorCode::kUsage, StrCat("--", option, " is of a history, and ", Printable(path), " is a file"));
  GAPLESS_ASSIGN(const auto file, ReadResultFile(path, arguments.column));
  TrendReport report{.place = path, .is_history = false};
  const std::vector<std::string>& wanted = arguments.metric;
  for (const ResultSeries& series : file.series) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), series.name) == wanted.end()) continue;
    Trend trend{.metric = series.name, .unit = series.unit, .higher_is_better = series.higher_is_better};
    for (const double value : series.values) trend.points.push_back({.value = value});
    if (!file.runs.empty()) trend = TrendOf(file.runs, series.name);  // with times and commits
    FindTrend(trend);
    report.trends.push_back(std::move(trend));
  }
  if (!report.trends.empty()) return report;
  std::vector<std::string> names;
  for (const ResultSeries& series : file.series) names.push_back(series.name);
  return Fail(ErrorCode::kInput, "cannot show the series: the file does not have it", Join(wanted, ","),
              StrCat("there are ", SomeNames(names)));
}

// Returns an error if more than one output goes to standard output.
Result<void> CheckOutputs(const TrendArguments& arguments) {
  int to_stdout = 0;
  for (const std::string& output : {arguments.svg, arguments.html, arguments.json.value_or("")}) {
    to_stdout += output == "-" ? 1 : 0;
    if (arguments.file) GAPLESS_TRY(RefuseInput(output, {&*arguments.file, 1}));
  }
  if (to_stdout > 1) return Fail(ErrorCode::kUsage, "only one of --svg, --html and --json can go to standard output");
  return {};
}

// Draws the pictures that were asked for; the text is left out if one of them goes to standard output.
Result<int> Execute(const TrendArguments& arguments, Session& session) {
  GAPLESS_TRY(CheckOutputs(arguments));
  GAPLESS_ASSIGN(auto report, arguments.file ? OfFile(arguments) : OfHistory(arguments, session));
  for (Trend& trend : report.trends) {
    // A direction that is known is not overruled by an option.
    if (trend.higher_is_better) continue;
    if (arguments.lower_is_better) trend.higher_is_better = false;
    if (arguments.higher_is_better) trend.higher_is_better = true;
  }
  if (!arguments.svg.empty()) GAPLESS_TRY(WriteFile(arguments.svg, TrendSvg(report)));
  if (!arguments.html.empty()) GAPLESS_TRY(WriteFile(arguments.html, TrendHtml(report)));
  const bool on_stdout = arguments.svg == "-" || arguments.html == "-";
  if (on_stdout && !arguments.json) return 0;
  return PrintTextOrJson(
      arguments, [&] { return on_stdout ? "" : TrendText(report, session.terminal.utf8); },
      [&] { return TrendJson(report); });
}

constexpr const TypeInfo* kDocuments[] = {&kTrendDocument};
constexpr Example kExamples[] = {
    {"gapless trend", "When did throughput, step time, utilisation or memory of main change, and by which commit?"},
    {"gapless trend --since 2026-10-01 --html trend.html", "Since a date, as a page with a chart for each metric, too"},
    {"gapless trend --label resnet50 --metric step_time_ms --svg step.svg", "One metric, as a picture, too"},
    {"gapless trend values.csv --column ms --lower-is-better", "A history from elsewhere"},
};

}  // namespace

COMMAND(trend) = {
    .name = "trend",
    .place = {groups::kGuard, 3},
    .help = "Show when a benchmark's level changed, and the commits between",
    .about =
        "Finds the changes of level in the history of each metric: their dates, sizes, commits and "
        "directions, and slow drift since the last change. The method allows for outliers and for runs that "
        "depend on the one before (docs/CHANGE_POINTS.md).\n\nRuns of one benchmark on one kind of machine "
        "make a series. The series of the newest run is shown, with the number of runs left out. Dates are "
        "UTC, and --until is included.",
    .examples = kExamples,
    .only_reads = true,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::trend_command
