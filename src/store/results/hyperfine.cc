// SPDX-License-Identifier: Apache-2.0
// hyperfine --export-json: every time is that of a whole process, in seconds. The name of a series is the command, with
// its secrets redacted. A file without single times gives its mean, of unknown sampling.
#include "base/redact.h"
#include "store/result_reader.h"

namespace gapless::internal {
namespace {

bool Recognises(const ResultInput& input) {
  if (input.json == nullptr) return false;
  const auto& results = input.json->Get("results").items();
  return !results.empty() && results[0].Get("command").Text() != nullptr && results[0].Get("mean").Number();
}

Result<ResultFile> Read(const ResultInput& input) {
  ResultFile file;
  for (const JsonValue& result : input.json->Get("results").items()) {
    ResultSeries series{.name = RedactCommandLine(result.TextOf("command")),
                        .unit = "s",
                        .values = {},
                        .unit_of_sampling = Sampling::kProcess,
                        .higher_is_better = false};
    for (const JsonValue& time : result.Get("times").items())
      if (const auto seconds = time.Number()) series.values.push_back(*seconds);
    if (const auto mean = result.Get("mean").Number(); series.values.empty() && mean) {
      series.values.push_back(*mean);  // the mean of an unknown number of runs
      series.unit_of_sampling = Sampling::kUnknown;
    }
    file.series.push_back(std::move(series));
  }
  return file;
}

}  // namespace

RESULTREADER(hyperfine) = {
    .name = "hyperfine", .help = "hyperfine --export-json: whole processes", .recognises = Recognises, .read = Read};

}  // namespace gapless::internal
