// SPDX-License-Identifier: Apache-2.0
// The command `gapless trend`: reads a history or a file of numbers, finds changes of level and drift, and prints them
// or draws them as SVG or HTML.
//
// A history gives one series: the runs that can be compared with the newest one, on one branch. Runs that are left out
// are counted in a note. A file gives all of its series, in its order. Pictures are additions to the text, unless a
// picture goes to standard output. The exit status does not depend on the trends: `gapless gate` is the command that
// fails a build.
#include <algorithm>
#include <set>

#include "base/strings.h"
#include "cli/benchmark.h"
#include "cli/history_actions.h"
#include "cli/output.h"
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

constexpr int kShownNames = 5;

// Lists at most five names.
std::string Some(const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  for (const std::string& name : names) {
    if (shown.size() == kShownNames) {
      shown.emplace_back("…");
      break;
    }
    shown.push_back(name.empty() ? "without a name" : Ellipsize(Printable(name), 40));
  }
  return Join(shown, ", ");
}

std::string Runs(size_t count) {
  return StrCat(FormatCount(static_cast<int64_t>(count)), count == 1 ? " run" : " runs");
}

// Reads the records that pass the filter; a signal ends it between two of them.
Result<std::vector<BenchmarkRecord>> Read(History& history, const HistoryFilter& filter, const Session& session) {
  std::vector<BenchmarkRecord> records;
  GAPLESS_TRY(history.Visit(filter, [&](const BenchmarkRecord& record) -> Result<void> {
    if (session.cancel->load()) return Fail(ErrorCode::kInterrupted, "interrupted");
    records.push_back(record);
    return {};
  }));
  return records;
}

// Returns a sentence on what the history holds instead, where nothing matched: the branches of its newest runs.
Result<std::string> WhatThereIs(History& history, const Session& session) {
  constexpr int64_t kNewest = 1000;
  GAPLESS_ASSIGN(const auto records, Read(history, {.limit = kNewest, .with_samples = false}, session));
  std::set<std::string> branches;
  for (const BenchmarkRecord& record : records) branches.insert(record.branch);
  if (branches.empty()) return std::string("the history is empty: gapless history record RESULT adds to it");
  return StrCat("there are runs on other branches or of other times: ", Some({branches.begin(), branches.end()}));
}

// Adds a note for everything that was left out, and for a mixture of hosts.
void Note(const TrendRuns& runs, const TrendArguments& arguments, TrendReport& report) {
  report.other_benchmarks = runs.other_benchmarks;
  report.other_machines = runs.other_machines;
  if (runs.other_benchmarks > 0)
    report.notes.push_back(StrCat(Runs(runs.other_benchmarks),
                                  " of other benchmarks left out (--label): ", Some(runs.benchmarks_left_out)));
  if (runs.other_machines > 0)
    report.notes.push_back(StrCat(Runs(runs.other_machines), " on other kinds of machine than the newest left out"));
  if (runs.hosts.size() > 1 && !arguments.host)
    report.notes.push_back(
        StrCat("the runs are of ", runs.hosts.size(), " hosts (--host takes one): ", Some(runs.hosts)));
  for (const Trend& trend : report.trends)
    if (trend.other_units > 0)
      report.notes.push_back(
          StrCat(Ellipsize(Printable(trend.metric), 40), ": ", Runs(trend.other_units), " in another unit left out"));
}

// Adds a trend per metric. A metric that was named and that no run has is an error; a usual one is left out.
Result<void> AddTrends(const TrendArguments& arguments, const TrendRuns& runs, TrendReport& report) {
  std::vector<std::string> names = arguments.metric;
  if (names.empty()) names = UsualMetrics(runs.records);
  for (const std::string& name : names) {
    Trend trend = TrendOf(runs.records, name);
    if (!trend.points.empty()) {
      report.trends.push_back(std::move(trend));
      continue;
    }
    std::set<std::string> present;
    for (const BenchmarkRecord& record : runs.records)
      for (const MetricRecord& metric : record.metrics) present.insert(metric.name);
    if (!runs.records.empty())
      return Fail(ErrorCode::kInput, "cannot show the metric: no run has it", Printable(name),
                  StrCat("there are ", Some({present.begin(), present.end()})));
  }
  return {};
}

// The limit counts runs of the series, so it is applied after the selection, not by the database.
Result<TrendReport> OfHistory(const TrendArguments& arguments, const Session& session) {
  HistoryFilter filter = FilterOf(arguments);
  std::optional<size_t> limit;  // maximum number of runs after filtering
  if (filter.limit) limit = static_cast<size_t>(*filter.limit);
  filter.limit.reset();
  filter.with_samples = false;
  if (!filter.branch) filter.branch = "main";
  GAPLESS_ASSIGN(auto history, History::OpenToRead(arguments.db));
  GAPLESS_ASSIGN(auto records, Read(history, filter, session));
  if (arguments.host)
    std::erase_if(records, [&](const BenchmarkRecord& record) { return record.host != arguments.host; });
  const TrendRuns runs = RunsLikeTheNewest(std::move(records), limit);
  TrendReport report{.place = history.place(), .branch = *filter.branch, .runs = runs.records.size()};
  if (!runs.records.empty()) report.benchmark = runs.records.back().benchmark;
  GAPLESS_TRY(AddTrends(arguments, runs, report));
  Note(runs, arguments, report);
  if (report.trends.empty()) {
    GAPLESS_ASSIGN(const auto there, WhatThereIs(history, session));
    report.notes.push_back(there);
  }
  return report;
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
              StrCat("there are ", Some(names)));
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
