// SPDX-License-Identifier: Apache-2.0
// Reads records of a history and makes trends of them. The limit counts runs of a series, so it is applied after the
// selection, not by the database.
#include "flows/trends.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/strings.h"
#include "proof/trend_runs.h"

namespace gapless::internal {
namespace {

constexpr int kNamesInNotes = 5;

std::string RunsInWords(size_t count) {
  return StrCat(FormatCount(static_cast<int64_t>(count)), count == 1 ? " run" : " runs");
}

// Reads the records that pass the filter; a signal ends it between two of them.
Result<std::vector<BenchmarkRecord>> RecordsOf(History& history, const HistoryFilter& filter,
                                               const std::atomic<bool>* cancel) {
  std::vector<BenchmarkRecord> records;
  GAPLESS_TRY(history.Visit(filter, [&](const BenchmarkRecord& record) -> Result<void> {
    if (cancel != nullptr && cancel->load()) return Fail(ErrorCode::kInterrupted, "interrupted");
    records.push_back(record);
    return {};
  }));
  return records;
}

// Returns a sentence on what the history holds instead, where nothing matched: the branches of its newest runs.
Result<std::string> WhatThereIs(History& history, const std::atomic<bool>* cancel) {
  constexpr int64_t kNewest = 1000;
  GAPLESS_ASSIGN(const auto records, RecordsOf(history, {.limit = kNewest, .with_samples = false}, cancel));
  std::set<std::string> branches;
  for (const BenchmarkRecord& record : records) branches.insert(record.branch);
  if (branches.empty()) return std::string("the history is empty: gapless history record RESULT adds to it");
  return StrCat("there are runs on other branches or of other times: ", SomeNames({branches.begin(), branches.end()}));
}

// Adds a note for everything that was left out, and for a mixture of hosts.
void AddTrendNotes(const TrendRuns& runs, const TrendQuery& query, TrendReport& report) {
  report.other_benchmarks = runs.other_benchmarks;
  report.other_machines = runs.other_machines;
  if (runs.other_benchmarks > 0)
    report.notes.push_back(StrCat(RunsInWords(runs.other_benchmarks),
                                  " of other benchmarks left out (--label): ", SomeNames(runs.benchmarks_left_out)));
  if (runs.other_machines > 0)
    report.notes.push_back(
        StrCat(RunsInWords(runs.other_machines), " on other kinds of machine than the newest left out"));
  if (runs.hosts.size() > 1 && !query.host)
    report.notes.push_back(
        StrCat("the runs are of ", runs.hosts.size(), " hosts (--host takes one): ", SomeNames(runs.hosts)));
  for (const Trend& trend : report.trends)
    if (trend.other_units > 0)
      report.notes.push_back(StrCat(Ellipsize(Printable(trend.metric), 40), ": ", RunsInWords(trend.other_units),
                                    " in another unit left out"));
}

// Adds a trend per metric. A metric that was named and that no run has is an error; a usual one is left out.
Result<void> AddTrends(const std::vector<std::string>& wanted, const TrendRuns& runs, TrendReport& report) {
  for (const std::string& name : wanted.empty() ? UsualMetrics(runs.records) : wanted) {
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
                  StrCat("there are ", SomeNames({present.begin(), present.end()})));
  }
  return {};
}

}  // namespace

std::string SomeNames(const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  for (const std::string& name : names) {
    if (shown.size() == kNamesInNotes) {
      shown.emplace_back("…");
      break;
    }
    shown.push_back(name.empty() ? "without a name" : Ellipsize(Printable(name), 40));
  }
  return Join(shown, ", ");
}

bool IsHistory(const std::string& db) {
  const auto history = History::OpenToRead(db, History::IfAbsent::kEmpty);
  return history && !history->is_absent();
}

std::string PlaceOfHistory(const std::string& db) { return WithoutPassword(db); }

std::string OwnHistory() {
  const std::string own = History::DefaultUrl();
  return !own.empty() && IsHistory(own) ? own : "";
}

Result<TrendReport> TrendOfHistory(const TrendQuery& query) {
  HistoryFilter filter = query.filter;
  std::optional<size_t> limit;  // maximum number of runs after filtering
  if (filter.limit) limit = static_cast<size_t>(*filter.limit);
  filter.limit.reset();
  filter.with_samples = false;
  if (!filter.branch) filter.branch = "main";
  const std::string branch = *filter.branch;
  // A value that was not recorded is NULL in the database, which no condition selects.
  const bool without_branch = branch.empty(), without_name = filter.benchmark == "";
  if (without_branch) filter.branch.reset();
  if (without_name) filter.benchmark.reset();
  GAPLESS_ASSIGN(auto history, History::OpenToRead(query.db));
  GAPLESS_ASSIGN(auto records, RecordsOf(history, filter, query.cancel));
  std::erase_if(records, [&](const BenchmarkRecord& record) {
    return (without_branch && !record.branch.empty()) || (without_name && !record.benchmark.empty());
  });
  if (query.host) std::erase_if(records, [&](const BenchmarkRecord& record) { return record.host != query.host; });
  const TrendRuns runs = RunsLikeTheNewest(std::move(records), limit);
  TrendReport report{.place = history.place(), .branch = branch, .runs = runs.records.size()};
  if (!runs.records.empty()) report.benchmark = runs.records.back().benchmark;
  GAPLESS_TRY(AddTrends(query.metrics, runs, report));
  AddTrendNotes(runs, query, report);
  if (report.trends.empty()) {
    GAPLESS_ASSIGN(const auto there, WhatThereIs(history, query.cancel));
    report.notes.push_back(there);
  }
  return report;
}

// Holds one record at a time.
Result<HistorySeriesList> SeriesOfHistory(const std::string& db, const std::atomic<bool>* cancel) {
  struct Found {
    HistorySeries series{};
    std::set<std::string> metrics{};
  };
  GAPLESS_ASSIGN(auto history, History::OpenToRead(db));
  std::map<std::pair<std::string, std::string>, Found> found;
  const HistoryFilter all{.with_samples = false};
  GAPLESS_TRY(history.Visit(all, [&](const BenchmarkRecord& record) -> Result<void> {
    if (cancel != nullptr && cancel->load()) return Fail(ErrorCode::kInterrupted, "interrupted");
    Found& of = found[{record.branch, record.benchmark}];
    of.series.branch = record.branch, of.series.benchmark = record.benchmark;
    ++of.series.runs;
    if (record.recorded_unix_ns)
      of.series.newest_unix_ns = std::max(of.series.newest_unix_ns.value_or(INT64_MIN), *record.recorded_unix_ns);
    for (const MetricRecord& metric : record.metrics) of.metrics.insert(metric.name);
    return {};
  }));
  HistorySeriesList list{.place = history.place()};
  for (auto& [key, of] : found) {
    of.series.metrics.assign(of.metrics.begin(), of.metrics.end());
    list.series.push_back(std::move(of.series));
  }
  std::ranges::stable_sort(list.series, std::greater(),
                           [](const HistorySeries& one) { return one.newest_unix_ns.value_or(INT64_MIN); });
  return list;
}

}  // namespace gapless::internal
