// SPDX-License-Identifier: Apache-2.0
// github-action-benchmark: its custom JSON, an array of {name, unit, value}, and the data.js of its page, in which each
// commit has such an array. A value is one number, of what is not in the file. The custom tools say by their name which
// direction is better; of the others the unit does.
//
// data.js may hold several suites. Each is then a benchmark of its own, and its series are called "suite: series".
#include <map>

#include "base/strings.h"
#include "base/timestamp.h"
#include "store/result_reader.h"

namespace gapless::internal::github_action_benchmark_resultreader {
namespace {

bool IsValue(const JsonValue& item) {
  return item.Get("name").Text() != nullptr && item.Get("value").NumberIn() && item.Get("unit").Text() != nullptr;
}

bool Recognises(const ResultInput& input) {
  if (input.json == nullptr) return false;
  if (input.json->is_array()) return !input.json->items().empty() && IsValue(input.json->items()[0]);
  return input.json->Get("entries").is_object() && input.json->Find("lastUpdate") != nullptr;
}

// One value as a series. The tool is that of a commit's entry; "" in the custom JSON, which does not name it.
ResultSeries SeriesOf(const JsonValue& item, std::string_view tool, std::string_view prefix) {
  const std::string unit = item.TextOf("unit");
  const auto seconds = SecondsIn(unit);
  double value = item.Get("value").NumberIn().value_or(0);
  if (seconds) value *= *seconds;
  ResultSeries series{.name = StrCat(prefix, item.TextOf("name")),
                      .unit = seconds ? "s" : unit,
                      .values = {value},
                      .unit_of_sampling = Sampling::kUnknown,
                      .higher_is_better = HigherIsBetterBy(unit)};
  if (tool == "customBiggerIsBetter") series.higher_is_better = true;
  if (tool == "customSmallerIsBetter") series.higher_is_better = false;
  return series;
}

MetricRecord MetricOf(const ResultSeries& series) {
  return {.name = series.name,
          .value = series.values[0],
          .unit = series.unit,
          .higher_is_better = series.higher_is_better,
          .samples = {}};
}

constexpr int64_t kMillisecondNs = 1'000'000;

// One entry of data.js: the values of a commit.
BenchmarkRecord RunOf(const JsonValue& entry, const std::string& suite) {
  const std::string prefix = suite.empty() ? "" : StrCat(suite, ": ");
  BenchmarkRecord record;
  record.benchmark = suite;
  const JsonValue& commit = entry.Get("commit");
  record.commit_sha = commit.TextOf("id");
  record.author_unix_ns = ParseTimestamp(commit.TextOf("timestamp"));
  if (const auto ms = entry.Get("date").Int(); ms && *ms > 0 && *ms < INT64_MAX / kMillisecondNs)
    record.recorded_unix_ns = *ms * kMillisecondNs;
  for (const JsonValue& item : entry.Get("benches").items())
    if (IsValue(item)) record.metrics.push_back(MetricOf(SeriesOf(item, entry.TextOf("tool"), prefix)));
  return record;
}

// The values of each metric over the runs, in their order.
std::vector<ResultSeries> SeriesOver(const std::vector<BenchmarkRecord>& runs) {
  std::vector<ResultSeries> all;
  std::map<std::string, size_t> places;
  for (const BenchmarkRecord& run : runs)
    for (const MetricRecord& metric : run.metrics) {
      const auto [at, is_new] = places.try_emplace(metric.name, all.size());
      if (is_new) all.push_back({metric.name, metric.unit, {}, Sampling::kUnknown, metric.higher_is_better, {}});
      all[at->second].values.push_back(metric.value);
    }
  return all;
}

Result<ResultFile> Read(const ResultInput& input) {
  ResultFile file;
  if (input.json->is_array())
    for (const JsonValue& item : input.json->items())
      if (IsValue(item)) file.series.push_back(SeriesOf(item, "", ""));
  const JsonValue& suites = input.json->Get("entries");
  for (size_t i = 0; i < suites.items().size(); ++i) {
    const std::string suite = suites.items().size() > 1 ? suites.keys()[i] : "";
    for (const JsonValue& entry : suites.items()[i].items()) file.runs.push_back(RunOf(entry, suite));
  }
  if (!file.runs.empty()) file.series = SeriesOver(file.runs);
  return file;
}

}  // namespace

RESULTREADER(github_action_benchmark) = {.name = "github_action_benchmark",
                                         .help = "github-action-benchmark: custom JSON, or its page's data.js",
                                         .recognises = Recognises,
                                         .read = Read};

}  // namespace gapless::internal::github_action_benchmark_resultreader
