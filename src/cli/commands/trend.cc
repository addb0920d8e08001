// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "base/strings.h"
#include "cli/benchmark.h"
#include "cli/commands/history/actions.h"
#include "cli/commands/trend/report.h"
#include "cli/output.h"
#include "store/result_reader.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kUsual[] = {"samples_per_second", "step_time_ms", "gpu_utilization", "memory_usage_gb"};

// Those that were asked for; else the usual ones that there are; else all.
std::vector<std::string> MetricsOf(const Arguments& arguments, const std::vector<BenchmarkRecord>& records) {
  std::vector<std::string> names = arguments.List("metric");
  if (!names.empty()) return names;
  std::set<std::string> present;
  for (const BenchmarkRecord& record : records)
    for (const MetricRecord& metric : record.metrics) present.insert(metric.name);
  for (const std::string_view name : kUsual)
    if (present.contains(std::string(name))) names.emplace_back(name);
  if (names.empty()) names.assign(present.begin(), present.end());
  return names;
}

Result<TrendReport> OfHistory(const Arguments& arguments, const Session& session) {
  auto filter = FilterFrom(arguments);
  if (!filter) return Unexpected{filter.error()};
  filter->with_samples = false;
  if (!filter->branch) filter->branch = "main";
  auto history = History::Open(arguments.Value("db"));
  if (!history) return Unexpected{history.error()};
  std::vector<BenchmarkRecord> records;
  GAPLESS_TRY(history->Visit(*filter, [&](const BenchmarkRecord& record) -> Result<void> {
    if (session.cancel->load()) return Fail(ErrorCode::kInterrupted, "interrupted");
    records.push_back(record);
    return {};
  }));
  TrendReport report{.place = history->place(), .trends = {}};
  for (const std::string& name : MetricsOf(arguments, records)) {
    Trend trend;
    trend.metric = name;
    for (const BenchmarkRecord& record : records) {
      const MetricRecord* const metric = record.Find(name);
      if (metric == nullptr) continue;
      trend.unit = metric->unit;
      if (metric->higher_is_better) trend.higher_is_better = metric->higher_is_better;
      trend.points.push_back({.unix_ns = record.recorded_unix_ns, .value = metric->value, .commit = record.commit_sha});
    }
    if (trend.points.empty() && arguments.Has("metric"))
      return Fail(ErrorCode::kInput, "no run has this metric", Printable(name));
    report.trends.push_back(std::move(trend));
  }
  return report;
}

// A file of numbers, oldest first: each of its series is a history.
Result<TrendReport> OfFile(const Arguments& arguments, const std::string& path) {
  const auto file = ReadResultFile(path, arguments.Value("column"));
  if (!file) return Unexpected{file.error()};
  TrendReport report{.place = path, .trends = {}};
  for (const ResultSeries& series : file->series) {
    Trend trend;
    trend.metric = series.name, trend.unit = series.unit, trend.higher_is_better = series.higher_is_better;
    for (const double value : series.values) trend.points.push_back({.unix_ns = {}, .value = value, .commit = {}});
    report.trends.push_back(std::move(trend));
  }
  return report;
}

Result<int> Execute(const Arguments& arguments, Session& session) {
  const auto& files = arguments.positionals();
  auto report = files.empty() ? OfHistory(arguments, session) : OfFile(arguments, files[0]);
  if (!report) return Unexpected{report.error()};
  for (Trend& trend : report->trends) {
    if (arguments.Has("lower-is-better")) trend.higher_is_better = false;
    if (arguments.Has("higher-is-better")) trend.higher_is_better = true;
    FindTrend(trend);
  }
  if (arguments.Has("svg")) {
    if (report->trends.size() != 1)
      return Fail(ErrorCode::kUsage, "a picture is of one metric", "", "--metric names it");
    GAPLESS_TRY(WriteFile(arguments.Value("svg"), TrendSvg(report->trends[0])));
    if (arguments.Value("svg").empty() || arguments.Value("svg") == "-") return 0;
  }
  return PrintTextOrJson(
      arguments, [&] { return TrendText(*report, session.terminal.utf8); }, [&] { return TrendJson(*report); });
}

constexpr PositionalSpec kPositionals[] = {{.name = "FILE",
                                            .help = "a file of numbers, oldest first, instead of the history",
                                            .min = 0,
                                            .max = 1,
                                            .is_path = true}};
constexpr OptionSpec kOptions[] = {
    {.name = "db", .takes = kTakesValue, .value = "URL", .help = "Where the history is: sqlite:FILE or postgresql://…"},
    {.name = "branch", .takes = kTakesValue, .value = "NAME", .help = "Whose runs (main)"},
    {.name = "label",
     .takes = kTakesValue,
     .value = "NAME",
     .help = "Name of what was measured, when a history holds several"},
    {.name = "metric",
     .takes = kTakesValue,
     .value = "LIST",
     .help = "Which metrics (throughput, step, utilisation, memory)",
     .is_list = true},
    {.name = "since", .takes = kTakesValue, .value = "TIME", .help = "Only runs from this date or time on (UTC)"},
    {.name = "until",
     .takes = kTakesValue,
     .value = "TIME",
     .help = "Only runs up to this date or time, included (UTC)"},
    {.name = "limit", .takes = kTakesValue, .value = "N", .help = "Only the newest N runs"},
    {.name = "column",
     .takes = kTakesValue,
     .value = "NAME",
     .help = "Of a CSV file: the column, by its name or number"},
    {.name = "higher-is-better", .help = "A rise is an improvement, where that is not known"},
    {.name = "lower-is-better", .help = "A fall is an improvement, where that is not known"},
    {.name = "svg", .takes = kTakesValue, .value = "FILE", .help = "Write a picture of the one metric, too"},
};
constexpr Example kExamples[] = {
    {"gapless trend", "When did throughput, step time, utilisation or memory of main change, and by which commit?"},
    {"gapless trend --metric step_time_ms --since 2026-10-01 --svg step.svg",
     "One metric since a date, as a picture, too"},
    {"gapless trend values.csv --column ms --lower-is-better", "A history from elsewhere"},
};

}  // namespace

COMMAND(trend) = {
    .name = "trend",
    .help = "Show where the history of a benchmark changed, and by which commits",
    .about =
        "Finds the changes of level in the history of each metric: when, by how much, between which commits, for the "
        "better or the worse; and slow drift since the last one. Outliers, and runs that follow the one before, are "
        "allowed for (docs/CHANGE_POINTS.md).",
    .positionals = kPositionals,
    .options = kOptions,
    .examples = kExamples,
    .run = Execute};

}  // namespace gapless::internal
