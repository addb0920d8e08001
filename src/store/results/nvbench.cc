// SPDX-License-Identifier: Apache-2.0
// nvbench --json or --jsonbin: states (a benchmark with the values of its axes) with summaries, whose numbers stand in
// texts. The GPU's times of single launches, all within one process, are in a file beside it (--jsonbin); without it
// there is only their mean.
#include <bit>
#include <cstring>
#include <fstream>

#include "base/strings.h"
#include "store/result_reader.h"

namespace gapless::internal::nvbench_resultreader {
namespace {

constexpr std::string_view kMeanTags[] = {"nv/cold/time/gpu/mean", "Average GPU Time (Cold)"};
constexpr std::string_view kSamplesTag = "nv/json/bin:nv/cold/sample_times";

bool Recognises(const ResultInput& input) {
  if (input.json == nullptr) return false;
  const auto& benchmarks = input.json->Get("benchmarks").items();
  return !benchmarks.empty() && benchmarks[0].Get("states").is_array();
}

// A summary by its tag: of a list of them, or of an object (files of before 2022).
const JsonValue& Summary(const JsonValue& summaries, std::string_view tag) {
  for (const JsonValue& summary : summaries.items())
    if (summary.TextOf("tag") == tag) return summary;
  return summaries.Get(tag);
}

// Returns a value of a summary; a null value if the summary lacks it. The list is called "data" or "values" by the
// version of the format.
const JsonValue& ValueNamed(const JsonValue& summary, std::string_view name) {
  static const JsonValue kNothing;
  for (const std::string_view list : {"data", "values"})
    for (const JsonValue& value : summary.Get(list).items())
      if (value.TextOf("name") == name) return value.Get("value");
  return kNothing;
}

// Returns the times in the file beside it, in seconds: 32-bit floats, the lowest byte first. Empty if there is no such
// file. A name that leads out of the folder is not followed, because the JSON may come from anybody.
std::vector<double> SamplesBeside(std::string_view path, const JsonValue& summary) {
  const std::string* const name = ValueNamed(summary, "filename").Text();
  if (name == nullptr || name->empty() || name->front() == '/' || name->find("..") != std::string::npos) return {};
  const std::vector<std::string_view> parts = Split(*name, '/');
  const std::string folder(path.substr(0, path.rfind('/') + 1));
  const size_t shown = parts.size();
  std::ifstream in(folder + *name, std::ios::binary);
  // nvbench writes the path as it was given the JSON's: what counts is the folder beside it.
  if (!in && shown >= 2) in = std::ifstream(StrCat(folder, parts[shown - 2], "/", parts[shown - 1]), std::ios::binary);
  std::vector<double> seconds;
  constexpr size_t kMax = size_t{1} << 26;
  char bytes[sizeof(float)];
  while (seconds.size() < kMax && in.read(bytes, sizeof bytes)) {
    static_assert(std::endian::native == std::endian::little);
    float value = 0;
    std::memcpy(&value, bytes, sizeof value);
    seconds.push_back(static_cast<double>(value));
  }
  return seconds;
}

// Returns the benchmark with the values of its axes.
std::string NameOfState(const JsonValue& benchmark, const JsonValue& state) {
  std::string which = state.TextOf("name");
  if (which.empty()) which = state.TextOf("description");
  return which.empty() ? benchmark.TextOf("name") : StrCat(benchmark.TextOf("name"), " ", which);
}

Result<ResultFile> Read(const ResultInput& input) {
  ResultFile file;
  const auto& devices = input.json->Get("devices").items();
  if (devices.size() == 1) file.facts.gpu_type = devices[0].TextOf("name");
  for (const JsonValue& benchmark : input.json->Get("benchmarks").items()) {
    for (const JsonValue& state : benchmark.Get("states").items()) {
      if (state.Get("is_skipped").Bool().value_or(false)) {
        file.failed.push_back(
            {NameOfState(benchmark, state), 1, {}, "state", state.TextOf("skip_reason"), /*may_be_left_out=*/true});
        continue;
      }
      ResultSeries series{.name = NameOfState(benchmark, state),
                          .unit = "s",
                          .values = SamplesBeside(input.path, Summary(state.Get("summaries"), kSamplesTag)),
                          .unit_of_sampling = Sampling::kIteration,
                          .higher_is_better = false};
      for (const std::string_view tag : kMeanTags) {
        const auto mean = ValueNamed(Summary(state.Get("summaries"), tag), "value").NumberIn();
        if (!mean || !series.values.empty()) continue;
        series.values.push_back(*mean);
        series.unit_of_sampling = Sampling::kUnknown;
      }
      file.series.push_back(std::move(series));
    }
  }
  return file;
}

}  // namespace

RESULTREADER(nvbench) = {.name = "nvbench",
                         .help = "nvbench --json, --jsonbin: launches within one process",
                         .recognises = Recognises,
                         .read = Read};

}  // namespace gapless::internal::nvbench_resultreader
