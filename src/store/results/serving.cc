// SPDX-License-Identifier: Apache-2.0
// Benchmarks of servers of language models. `vllm bench serve --save-result` and `sglang.bench_serving --output-file`
// write one object with throughputs and with latencies in ms (SGLang an object a line, one a run: the last counts).
// genai-perf and AIPerf write an object in which each metric has a unit and an average.
//
// All figures are of the requests that succeeded. A server that refuses most requests looks fast to the rest, so that
// no figure of a run with failed requests is a result.
#include <algorithm>

#include "base/strings.h"
#include "store/result_reader.h"

namespace gapless::internal::serving_resultreader {
namespace {

constexpr std::string_view kRates[] = {"request_throughput", "output_throughput", "total_token_throughput",
                                       "input_throughput", "total_throughput"};

bool IsPlain(const JsonValue& run) {
  return run.Get("completed").Number() && run.Get("duration").Number() && run.Get("request_throughput").Number();
}
bool IsPerf(const JsonValue& run) {
  return run.Get("request_latency").Get("avg").Number() && run.Get("request_latency").Get("unit").Text() != nullptr;
}

// The last object of lines of them.
const JsonValue& RunIn(const JsonValue& json) {
  return json.is_array() && !json.items().empty() ? json.items().back() : json;
}

bool Recognises(const ResultInput& input) {
  return input.json != nullptr && (IsPlain(RunIn(*input.json)) || IsPerf(RunIn(*input.json)));
}

// Counts the texts of a list of errors that are not empty.
size_t ErrorsIn(const JsonValue& errors) {
  return static_cast<size_t>(std::ranges::count_if(errors.items(), [](const JsonValue& error) {
    return error.is_object() || (error.Text() != nullptr && !error.Text()->empty());
  }));
}

size_t CountIn(const JsonValue& value) {
  const auto number = value.is_object() ? value.Get("avg").Number() : value.Number();
  return number && *number > 0 ? static_cast<size_t>(*number) : 0;
}

// Each file counts what failed in its own way; of several counts the largest is taken.
void TakeFailed(const JsonValue& run, ResultFile& file) {
  const size_t completed = CountIn(run.Get(IsPerf(run) ? "request_count" : "completed"));
  const size_t asked = CountIn(run.Get("num_prompts"));
  size_t failed = asked > completed ? asked - completed : 0;
  for (const std::string_view key : {"failed", "num_failed", "failed_requests", "error_request_count"})
    failed = std::max(failed, CountIn(run.Get(key)));
  failed = std::max(failed, ErrorsIn(run.Get("errors")));
  size_t summed = 0;
  for (const JsonValue& kind : run.Get("error_summary").items()) summed += CountIn(kind.Get("count"));
  failed = std::max(failed, summed);
  if (failed == 0) return;
  FailedRuns& requests = file.failed.emplace_back();
  requests.failed = failed;
  requests.all = std::max(asked, completed + failed);
  requests.what = "request";
}

void Add(ResultFile& file, std::string name, std::string unit, double value, std::optional<bool> higher_is_better) {
  file.series.push_back({.name = std::move(name),
                         .unit = std::move(unit),
                         .values = {value},
                         .unit_of_sampling = Sampling::kProcess,
                         .higher_is_better = higher_is_better});
}

void TakePlain(const JsonValue& run, ResultFile& file) {
  for (size_t i = 0; i < run.items().size(); ++i) {
    const std::string& name = run.keys()[i];
    const auto value = run.items()[i].Number();
    if (!value) continue;
    const bool is_latency = name.ends_with("_ms") && (name.starts_with("mean_") || name.starts_with("median_") ||
                                                      (name.starts_with("p") && name.find('_') <= 4));
    if (is_latency) Add(file, name, "ms", *value, false);
    if (std::ranges::find(kRates, name) != std::end(kRates))
      Add(file, name, name.starts_with("request") ? "requests/s" : "tokens/s", *value, true);
  }
}

void TakePerf(const JsonValue& run, ResultFile& file) {
  for (size_t i = 0; i < run.items().size(); ++i) {
    const JsonValue& metric = run.items()[i];
    const std::string unit = metric.TextOf("unit");
    const auto average = metric.Get("avg").Number(), median = metric.Get("p50").Number();
    const auto direction = HigherIsBetterBy(unit);
    if (!average || !direction) continue;  // lengths and counts are no measure of speed
    Add(file, run.keys()[i], unit, median.value_or(*average), direction);
  }
}

Result<ResultFile> Read(const ResultInput& input) {
  ResultFile file;
  file.is_one_run = true;
  const JsonValue& run = RunIn(*input.json);
  IsPerf(run) ? TakePerf(run, file) : TakePlain(run, file);
  TakeFailed(run, file);
  return file;
}

}  // namespace

RESULTREADER(serving) = {.name = "serving",
                         .help = "vLLM, SGLang, genai-perf, AIPerf: a run of a server as a process",
                         .recognises = Recognises,
                         .read = Read};

}  // namespace gapless::internal::serving_resultreader
