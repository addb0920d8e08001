// SPDX-License-Identifier: Apache-2.0
// Google Benchmark --benchmark_format=json: a row for each repetition, all in one process, each the mean over its
// iterations. Aggregates are left out where there are repetitions; a file that has nothing else gives their median,
// else their mean. A repetition that reported an error failed; one that was skipped was left out on purpose.
#include <map>

#include "base/strings.h"
#include "store/result_reader.h"

namespace gapless::internal::google_benchmark_resultreader {
namespace {

// Returns true if the first benchmark has a time_unit, which no other known format with "benchmarks" has.
bool Recognises(const ResultInput& input) {
  if (input.json == nullptr) return false;
  const auto& benchmarks = input.json->Get("benchmarks").items();
  return !benchmarks.empty() && benchmarks[0].Get("time_unit").Text() != nullptr;
}

double InASecond(const std::string& unit) { return unit == "s" ? 1 : unit == "ms" ? 1e3 : unit == "us" ? 1e6 : 1e9; }

// Joins the rows of one name into a series, in the order in which names first occur.
class Collector {
 public:
  void Add(const std::string& name, std::string_view unit, std::optional<double> value, bool higher_is_better,
           Sampling sampling) {
    if (!value) return;
    const auto [at, is_new] = places_.try_emplace(name, series_.size());
    if (is_new) series_.push_back({name, std::string(unit), {}, sampling, higher_is_better, {}});
    series_[at->second].values.push_back(*value);
  }
  std::vector<ResultSeries> Take() { return std::move(series_); }
  bool empty() const { return series_.empty(); }

 private:
  std::map<std::string, size_t> places_;
  std::vector<ResultSeries> series_;
};

bool HasNoResult(const JsonValue& row) {
  return row.Get("error_occurred").Bool().value_or(false) || row.Get("skipped").Bool().value_or(false);
}

// Counts the repetitions of each benchmark that have no result.
std::vector<FailedRuns> FailedIn(const std::vector<JsonValue>& rows) {
  std::map<std::string, FailedRuns> found;
  std::map<std::string, size_t> repetitions;
  for (const JsonValue& row : rows) {
    if (row.TextOf("run_type") == "aggregate") continue;
    const std::string name = row.TextOf("name");
    ++repetitions[name];
    if (!HasNoResult(row)) continue;
    const bool is_error = row.Get("error_occurred").Bool().value_or(false);
    FailedRuns& failed = found[name];
    failed.may_be_left_out = !is_error && (failed.failed == 0 || failed.may_be_left_out);
    ++failed.failed;
    failed.why = row.TextOf(is_error ? "error_message" : "skip_message");
  }
  std::vector<FailedRuns> all;
  for (auto& [name, failed] : found) {
    failed.series = name;
    failed.all = repetitions[name];
    failed.what = "repetition";
    all.push_back(std::move(failed));
  }
  return all;
}

// Adds a row's time in seconds, and its rates as series of their own. A row that failed has no numbers.
void AddRow(const JsonValue& row, const std::string& name, Sampling sampling, Collector& collector) {
  if (HasNoResult(row)) return;
  auto seconds = row.Get("real_time").Number();
  if (seconds) *seconds /= InASecond(row.TextOf("time_unit"));
  collector.Add(name, "s", seconds, false, sampling);
  for (const std::string_view rate : {"items_per_second", "bytes_per_second"})
    collector.Add(StrCat(name, "/", rate), rate == "items_per_second" ? "items/s" : "bytes/s", row.Get(rate).Number(),
                  true, sampling);
}

Result<ResultFile> Read(const ResultInput& input) {
  ResultFile file;
  const JsonValue& context = input.json->Get("context");
  file.facts.host = context.TextOf("host_name");
  Collector collector;
  const auto& rows = input.json->Get("benchmarks").items();
  for (const JsonValue& row : rows)
    if (row.TextOf("run_type") != "aggregate") AddRow(row, row.TextOf("name"), Sampling::kIteration, collector);
  for (const std::string_view summary : {"median", "mean"})
    if (collector.empty())
      for (const JsonValue& row : rows)
        if (row.TextOf("aggregate_name") == summary) AddRow(row, row.TextOf("run_name"), Sampling::kUnknown, collector);
  file.failed = FailedIn(rows);
  file.series = collector.Take();
  return file;
}

}  // namespace

RESULTREADER(google_benchmark) = {.name = "google_benchmark",
                                  .help = "Google Benchmark, JSON: repetitions within one process",
                                  .recognises = Recognises,
                                  .read = Read};

}  // namespace gapless::internal::google_benchmark_resultreader
