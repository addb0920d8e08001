// SPDX-License-Identifier: Apache-2.0
// pytest-benchmark --benchmark-json: rounds of one process in seconds, with --benchmark-save-data; else only
// statistics, of which the median is taken. A test without statistics failed.
#include "base/timestamp.h"
#include "store/result_reader.h"

namespace gapless::internal::pytest_benchmark_resultreader {
namespace {

bool Recognises(const ResultInput& input) {
  if (input.json == nullptr) return false;
  const auto& benchmarks = input.json->Get("benchmarks").items();
  return !benchmarks.empty() && benchmarks[0].Get("stats").is_object() && input.json->Get("machine_info").is_object();
}

// Takes the commit and the machine. The plugin writes words in place of a commit or branch that it does not know.
void TakeFacts(const JsonValue& root, BenchmarkRecord& facts) {
  const JsonValue& commit = root.Get("commit_info");
  facts.commit_sha = commit.TextOf("id");
  if (facts.commit_sha == "unversioned") facts.commit_sha.clear();
  facts.branch = commit.TextOf("branch");
  if (facts.branch == "(unknown)" || facts.branch == "(detached head)") facts.branch.clear();
  facts.dirty = commit.Get("dirty").Bool();
  facts.author_unix_ns = ParseTimestamp(commit.TextOf("author_time"));
  facts.host = root.Get("machine_info").TextOf("node");
}

ResultSeries SeriesOf(const JsonValue& benchmark) {
  ResultSeries series{.name = benchmark.TextOf("fullname"),
                      .unit = "s",
                      .values = {},
                      .unit_of_sampling = Sampling::kIteration,
                      .higher_is_better = false,
                      .short_name = benchmark.TextOf("name")};
  if (series.name.empty()) series.name = series.short_name;
  const JsonValue& stats = benchmark.Get("stats");
  for (const JsonValue& round : stats.Get("data").items())
    if (const auto seconds = round.Number()) series.values.push_back(*seconds);
  if (const auto median = stats.Get("median").Number(); series.values.empty() && median) {
    series.values.push_back(*median);
    series.unit_of_sampling = Sampling::kUnknown;
  }
  return series;
}

Result<ResultFile> Read(const ResultInput& input) {
  ResultFile file;
  TakeFacts(*input.json, file.facts);
  for (const JsonValue& benchmark : input.json->Get("benchmarks").items()) {
    ResultSeries series = SeriesOf(benchmark);
    const bool has_error = benchmark.Get("has_error").Bool().value_or(false) ||
                           benchmark.Get("stats").Get("has_error").Bool().value_or(false);
    if (has_error || series.values.empty())
      file.failed.push_back({.series = series.name, .failed = 1, .all = {}, .what = "test", .why = {}});
    if (has_error) series.values.clear();
    file.series.push_back(std::move(series));
  }
  return file;
}

}  // namespace

RESULTREADER(pytest_benchmark) = {.name = "pytest_benchmark",
                                  .help = "pytest-benchmark --benchmark-save-data: rounds within one process",
                                  .recognises = Recognises,
                                  .read = Read};

}  // namespace gapless::internal::pytest_benchmark_resultreader
