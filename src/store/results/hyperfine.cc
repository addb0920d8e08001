// SPDX-License-Identifier: Apache-2.0
// hyperfine --export-json: every time is that of a whole process, in seconds. The name of a series is the command, with
// its secrets redacted. A file without single times gives its mean, of unknown sampling, unless a run failed.
//
// With --ignore-failure a command that fails is timed as any other, and its exit codes say so: how fast a program fails
// is no result. A run without an exit code was ended by a signal.
#include <algorithm>
#include <set>

#include "base/redact.h"
#include "base/strings.h"
#include "store/result_reader.h"

namespace gapless::internal::hyperfine_resultreader {
namespace {

bool Recognises(const ResultInput& input) {
  if (input.json == nullptr) return false;
  const auto& results = input.json->Get("results").items();
  return !results.empty() && results[0].Get("command").Text() != nullptr && results[0].Get("mean").Number();
}

// The exit codes of the runs that failed: "exit status 1", "ended by a signal".
class Failures {
 public:
  void Add(const JsonValue& code) {
    const auto status = code.Int();
    ++count_;
    reasons_.insert(status ? StrCat("exit status ", *status) : "ended by a signal");
  }
  void AddTo(ResultFile& file, const std::string& series, size_t all) const {
    if (count_ == 0) return;
    const std::string why = Join({reasons_.begin(), reasons_.end()}, ", ");
    file.failed.push_back({.series = series, .failed = count_, .all = all, .what = "run", .why = why});
  }
  bool empty() const { return count_ == 0; }

 private:
  size_t count_ = 0;
  std::set<std::string> reasons_;
};

bool IsFailure(const JsonValue& code) { return code.Int() != 0; }

Result<ResultFile> Read(const ResultInput& input) {
  ResultFile file;
  for (const JsonValue& result : input.json->Get("results").items()) {
    ResultSeries series{.name = RedactCommandLine(result.TextOf("command")),
                        .unit = "s",
                        .values = {},
                        .unit_of_sampling = Sampling::kProcess,
                        .higher_is_better = false};
    const auto &times = result.Get("times").items(), &codes = result.Get("exit_codes").items();
    Failures failures;
    for (const JsonValue& code : codes)
      if (IsFailure(code)) failures.Add(code);
    for (size_t i = 0; i < times.size(); ++i)
      if (const auto seconds = times[i].Number(); seconds && !(i < codes.size() && IsFailure(codes[i])))
        series.values.push_back(*seconds);
    failures.AddTo(file, series.name, std::max(codes.size(), times.size()));
    if (const auto mean = result.Get("mean").Number(); series.values.empty() && mean && failures.empty()) {
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

}  // namespace gapless::internal::hyperfine_resultreader
