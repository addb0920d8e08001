// SPDX-License-Identifier: Apache-2.0
// Results of guidellm (`guidellm benchmark --output-path benchmarks.json`): a list of benchmarks, one for each load
// that was tried. A metric has a distribution for the requests that succeeded, for those that failed, for those that
// the end of the benchmark cut off, and for all; the first is read. Latencies of requests are in seconds, others in ms.
//
// The median and two percentiles of latencies are taken; of rates the mean, which is the number over the duration.
#include <algorithm>

#include "base/strings.h"
#include "store/result_reader.h"
#include "store/serving_formula.h"

namespace gapless::internal::guidellm_resultreader {
namespace {

struct Metric {
  std::string_view name, unit;
  bool is_rate = false;
};
constexpr Metric kMetrics[] = {
    {"requests_per_second", "requests/s", true},
    {"output_tokens_per_second", "tokens/s", true},
    {"tokens_per_second", "tokens/s", true},
    {"request_latency", "s"},
    {"time_to_first_token_ms", "ms"},
    {"time_per_output_token_ms", "ms"},
    {"inter_token_latency_ms", "ms"},
};

bool Recognises(const ResultInput& input) {
  if (input.json == nullptr) return false;
  const auto& benchmarks = input.json->Get("benchmarks").items();
  return !benchmarks.empty() && benchmarks[0].Get("metrics").Get("requests_per_second").is_object();
}

// "concurrent 8: " of several benchmarks: the strategy and its load. Where the file does not say, their number.
std::string Prefix(const JsonValue& benchmark, size_t number, size_t all) {
  if (all == 1) return "";
  const JsonValue& newer = benchmark.Get("config").Get("strategy");
  const JsonValue& strategy = newer.is_object() ? newer : benchmark.Get("args").Get("strategy");
  const std::string kind = strategy.TextOf("type_");
  if (kind.empty()) return StrCat("benchmark ", number + 1, ": ");
  for (const std::string_view load : {"streams", "rate", "max_concurrency"})
    if (const auto value = strategy.Get(load).Number()) return StrCat(kind, " ", FormatNumber(*value, 2), ": ");
  return StrCat(kind, ": ");
}

void Add(const Metric& metric, const std::string& prefix, std::string_view statistic, const JsonValue& value,
         ResultFile& file) {
  const auto number = value.Number();
  if (!number) return;
  const ServingFormula formula = FormulaOf(ServingTool::kGuidellm, metric.name);
  file.series.push_back({.name = StrCat(prefix, metric.name, statistic.empty() ? "" : "_", statistic),
                         .unit = std::string(metric.unit),
                         .values = {*number},
                         .unit_of_sampling = Sampling::kProcess,
                         .higher_is_better = metric.is_rate,
                         .formula = formula.formula,
                         .own_name = formula.name});
}

// Requests that were cut off by the end of the benchmark have not failed.
void TakeFailed(const JsonValue& benchmark, const std::string& prefix, ResultFile& file) {
  const JsonValue& newer = benchmark.Get("metrics").Get("request_totals");
  const JsonValue& totals = newer.is_object() ? newer : benchmark.Get("run_stats").Get("requests_made");
  const auto errored = totals.Get("errored").Int();
  if (!errored || *errored <= 0) return;
  FailedRuns& requests = file.failed.emplace_back();
  requests.failed = static_cast<size_t>(*errored);
  if (const auto fine = totals.Get("successful").Int(); fine && *fine >= 0)
    requests.all = requests.failed + static_cast<size_t>(*fine);
  requests.what = "request";
  if (!prefix.empty()) requests.why = StrCat("with ", prefix.substr(0, prefix.size() - 2));
}

Result<ResultFile> Read(const ResultInput& input) {
  ResultFile file;
  file.is_one_run = true;
  const auto& benchmarks = input.json->Get("benchmarks").items();
  for (size_t i = 0; i < benchmarks.size(); ++i) {
    const std::string prefix = Prefix(benchmarks[i], i, benchmarks.size());
    for (const Metric& metric : kMetrics) {
      const JsonValue& found = benchmarks[i].Get("metrics").Get(metric.name).Get("successful");
      Add(metric, prefix, "", found.Get(metric.is_rate ? "mean" : "median"), file);
      if (metric.is_rate) continue;
      for (const std::string_view p : {"p95", "p99"}) Add(metric, prefix, p, found.Get("percentiles").Get(p), file);
    }
    TakeFailed(benchmarks[i], prefix, file);
  }
  return file;
}

}  // namespace

RESULTREADER(guidellm) = {.name = "guidellm",
                          .help = "guidellm: the runs of a server at one load or more",
                          .recognises = Recognises,
                          .read = Read};

}  // namespace gapless::internal::guidellm_resultreader
