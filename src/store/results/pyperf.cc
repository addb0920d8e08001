// SPDX-License-Identifier: Apache-2.0
// pyperf: a suite of benchmarks, each with runs (processes), each with some values. Values of one process are not
// independent of each other, so that a process gives one value, the median of its own. A run without values calibrated
// the number of loops. What all benchmarks share stands in the metadata of the suite.
#include <algorithm>

#include "base/strings.h"
#include "store/result_reader.h"

namespace gapless::internal::pyperf_resultreader {
namespace {

bool Recognises(const ResultInput& input) {
  if (input.json == nullptr) return false;
  const auto& benchmarks = input.json->Get("benchmarks").items();
  return !benchmarks.empty() && benchmarks[0].Get("runs").is_array();
}

// Returns a benchmark's own value, else that of the suite.
std::string Metadata(const JsonValue& suite, const JsonValue& benchmark, std::string_view key) {
  std::string own = benchmark.Get("metadata").TextOf(key);
  return own.empty() ? suite.Get("metadata").TextOf(key) : own;
}

std::string UnitOf(const std::string& unit) { return unit == "byte" ? "bytes" : unit == "integer" ? "" : "s"; }

// Returns the median of one process; absent if the run only calibrated.
std::optional<double> MedianOfRun(const JsonValue& run) {
  std::vector<double> values;
  for (const JsonValue& value : run.Get("values").items())
    if (const auto number = value.Number()) values.push_back(*number);
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Result<ResultFile> Read(const ResultInput& input) {
  ResultFile file;
  const JsonValue& suite = *input.json;
  file.facts.host = suite.Get("metadata").TextOf("hostname");
  for (const JsonValue& benchmark : suite.Get("benchmarks").items()) {
    const std::string name = Metadata(suite, benchmark, "name");
    ResultSeries series{.name = name.empty() ? "value" : name,
                        .unit = UnitOf(Metadata(suite, benchmark, "unit")),
                        .values = {},
                        .unit_of_sampling = Sampling::kProcess,
                        .higher_is_better = false};
    for (const JsonValue& run : benchmark.Get("runs").items())
      if (const auto median = MedianOfRun(run)) series.values.push_back(*median);
    file.series.push_back(std::move(series));
  }
  return file;
}

}  // namespace

RESULTREADER(pyperf) = {
    .name = "pyperf", .help = "pyperf -o: one value for each process", .recognises = Recognises, .read = Read};

}  // namespace gapless::internal::pyperf_resultreader
