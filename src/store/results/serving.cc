// SPDX-License-Identifier: Apache-2.0
// Benchmarks of servers of language models. `vllm bench serve --save-result` and `sglang.bench_serving --output-file`
// write one object with throughputs and with latencies in ms (SGLang an object a line, one a run: the last counts; a
// summary of vLLM's sweeps numbers the runs of one setting, and each is a value).
// genai-perf and AIPerf write an object in which each metric has a unit and an average. Each number keeps the name that
// its tool gives it, with that tool's formula beside it (serving_formula.h).
//
// All figures are of the requests that succeeded. A server that refuses most requests looks fast to the rest, so that
// no figure of a run with failed requests is a result.
#include <algorithm>

#include "base/strings.h"
#include "store/result_reader.h"
#include "store/serving_formula.h"

namespace gapless::internal::serving_resultreader {
namespace {

constexpr std::string_view kRates[] = {"request_throughput",     "request_goodput",  "output_throughput",
                                       "total_token_throughput", "input_throughput", "total_throughput"};

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

// Do the objects number themselves as runs of one setting?
bool AreNumberedRuns(const JsonValue& json) {
  return json.is_array() && json.items().size() > 1 && std::ranges::all_of(json.items(), [](const JsonValue& run) {
           return IsPlain(run) && run.Get("run_number").Int().has_value();
         });
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

// The value of a further run goes to those of the runs before.
void Add(ResultFile& file, std::string name, std::string unit, double value, std::optional<bool> higher_is_better,
         const ServingFormula& formula) {
  const auto known = std::ranges::find(file.series, name, [](const auto& series) { return series.name; });
  if (known != file.series.end()) {
    known->values.push_back(value);
    return;
  }
  file.series.push_back({.name = std::move(name),
                         .unit = std::move(unit),
                         .values = {value},
                         .unit_of_sampling = Sampling::kProcess,
                         .higher_is_better = higher_is_better,
                         .formula = formula.formula,
                         .own_name = formula.name});
}

// SGLang calls the latency e2e_latency, and vLLM e2el; where neither is in the file, the name of the server decides.
ServingTool ToolOf(const JsonValue& run) {
  if (run.Get("mean_e2e_latency_ms").Number()) return ServingTool::kSglang;
  if (run.Get("mean_e2el_ms").Number()) return ServingTool::kVllm;
  return run.TextOf("backend").starts_with("sglang") ? ServingTool::kSglang : ServingTool::kVllm;
}

void TakePlain(const JsonValue& run, ResultFile& file) {
  const ServingTool tool = ToolOf(run);
  for (size_t i = 0; i < run.items().size(); ++i) {
    std::string_view name = run.keys()[i];
    if (name.ends_with(':')) name.remove_suffix(1);  // vLLM wrote "request_goodput:" for a year
    const auto value = run.items()[i].Number();
    if (!value) continue;
    const size_t end = name.find('_');
    const bool is_latency = name.ends_with("_ms") && (name.starts_with("mean_") || name.starts_with("median_") ||
                                                      (name.starts_with("p") && end <= 4));
    if (is_latency) {
      const std::string_view metric = name.substr(end + 1, name.size() - end - 4);
      Add(file, std::string(name), "ms", *value, false, FormulaOf(tool, metric));
    }
    if (std::ranges::find(kRates, name) != std::end(kRates))
      Add(file, std::string(name), name.starts_with("request") ? "requests/s" : "tokens/s", *value, true,
          FormulaOf(tool, name));
  }
}

// The median, and of latencies the percentiles that objectives are about.
void TakePerf(const JsonValue& run, ResultFile& file) {
  for (size_t i = 0; i < run.items().size(); ++i) {
    const JsonValue& metric = run.items()[i];
    const std::string unit = metric.TextOf("unit");
    const auto average = metric.Get("avg").Number(), median = metric.Get("p50").Number();
    const std::string_view bare = std::string_view(unit).substr(0, unit.rfind("/user"));
    const auto direction = HigherIsBetterBy(bare);
    if (!average || !direction) continue;  // lengths and counts are no measure of speed
    // The time that it was told to run, and that of its HTTP library within a request, are not the server's speed.
    if (run.keys()[i] == "benchmark_duration" || run.keys()[i].starts_with("http_req_")) continue;
    const ServingFormula formula = FormulaOf(ServingTool::kPerf, run.keys()[i]);
    Add(file, run.keys()[i], unit, median.value_or(*average), direction, formula);
    if (!SecondsIn(unit)) continue;
    for (const std::string_view p : {"p95", "p99"})
      if (const auto value = metric.Get(p).Number())
        Add(file, StrCat(run.keys()[i], "_", p), unit, *value, direction, formula);
  }
}

// Tools write 0 for each figure of a run in which no request was answered.
Result<void> TakeRun(const JsonValue& run, ResultFile& file) {
  const JsonValue& answered = IsPerf(run) ? run.Get("request_count").Get("avg") : run.Get("completed");
  if (answered.Number() == 0.0)
    return Fail(ErrorCode::kInput, "no request of this run was answered, so that no figure of it is a result");
  IsPerf(run) ? TakePerf(run, file) : TakePlain(run, file);
  TakeFailed(run, file);
  return {};
}

Result<ResultFile> Read(const ResultInput& input) {
  ResultFile file;
  file.is_one_run = true;
  if (!AreNumberedRuns(*input.json)) {
    GAPLESS_TRY(TakeRun(RunIn(*input.json), file));
    return file;
  }
  for (const JsonValue& run : input.json->items()) GAPLESS_TRY(TakeRun(run, file));
  return file;
}

}  // namespace

RESULTREADER(serving) = {.name = "serving",
                         .help = "vLLM, SGLang, genai-perf, AIPerf: a run of a server as a process",
                         .recognises = Recognises,
                         .read = Read};

}  // namespace gapless::internal::serving_resultreader
