// SPDX-License-Identifier: Apache-2.0
// gapless bench --json: metrics by their names, the steps of the run in ns or the medians of its processes in ms, and
// where it was measured.
#include <initializer_list>

#include "base/strings.h"
#include "store/metric_traits.h"
#include "store/result_reader.h"

namespace gapless::internal::gapless_resultreader {
namespace {

bool Recognises(const ResultInput& input) {
  return input.json != nullptr && input.json->Get("gapless").is_object() && input.json->Get("metrics").is_object();
}

// Returns a metric as a series of one value: unit and direction follow from its name.
ResultSeries SeriesOf(const std::string& name, double value) {
  const MetricTraits traits = TraitsOf(name);
  return {.name = name,
          .unit = std::string(traits.unit),
          .values = {value},
          .unit_of_sampling = Sampling::kProcess,
          .higher_is_better = traits.higher_is_better};
}

// The unit of several processes is the process, with its median step: steps of one process say nothing about the next.
ResultSeries TimesOf(const JsonValue& root) {
  constexpr double kSecondNs = 1e9, kSecondMs = 1e3;
  const bool is_time = root.TextOf("source") != "pattern";  // else numbers of the program's own, of whatever unit
  ResultSeries medians{.name = is_time ? "step_time" : "value",
                       .unit = is_time ? "s" : "",
                       .values = {},
                       .unit_of_sampling = Sampling::kProcess,
                       .higher_is_better = {}};
  if (is_time) medians.higher_is_better = false;
  for (const JsonValue& median : root.Get("process_medians").items())
    if (const auto value = median.Number()) medians.values.push_back(is_time ? *value / kSecondMs : *value);
  if (medians.values.size() > 1) return medians;
  ResultSeries steps{.name = "step_time",
                     .unit = "s",
                     .values = {},
                     .unit_of_sampling = Sampling::kIteration,
                     .higher_is_better = false};
  for (const JsonValue& step : root.Get("steps").items())
    if (const auto ns = step.Number()) steps.values.push_back(*ns / kSecondNs);
  return steps;
}

// The first of these that is a text, in the environment or beside it.
std::string TextIn(const JsonValue& root, std::initializer_list<std::string_view> keys) {
  for (const JsonValue* place :
       {&root.Get("environment"), &root.Get("environment").Get("git"), &root.Get("git"), &root})
    for (const std::string_view key : keys)
      if (std::string text = place->TextOf(key); !text.empty()) return text;
  return "";
}

std::optional<int64_t> IntIn(const JsonValue& root, std::string_view key) {
  for (const JsonValue* place : {&root.Get("environment"), &root})
    if (const auto number = place->Get(key).Int()) return number;
  return std::nullopt;
}

// Takes commit, machine and command from the first place of the document that has them.
void TakeFacts(const JsonValue& root, BenchmarkRecord& facts) {
  const JsonValue& environment = root.Get("environment");
  facts.commit_sha = TextIn(root, {"commit_sha", "commit"});
  facts.branch = TextIn(root, {"branch"});
  for (const JsonValue* place : {&environment, &environment.Get("git"), &root.Get("git")})
    if (!facts.dirty) facts.dirty = place->Get("dirty").Bool();
  facts.author_unix_ns = IntIn(root, "author_unix_ns");
  facts.benchmark = TextIn(root, {"benchmark", "label"});
  facts.framework = TextIn(root, {"framework"});
  facts.driver = TextIn(root, {"driver", "nvidia_driver"});
  facts.gpu_type = TextIn(root, {"gpu_type", "gpu"});
  facts.num_gpus = IntIn(root, "num_gpus");
  facts.batch_size = IntIn(root, "batch_size");
  facts.fingerprint = TextIn(root, {"fingerprint"});
  facts.host = TextIn(root, {"host", "hostname"});
  const JsonValue& host = environment.Get("host");
  if (facts.host.empty()) facts.host = host.TextOf("name");
  if (facts.driver.empty()) facts.driver = host.TextOf("nvidia_driver");
  const auto& gpus = host.Get("gpus").items();
  if (facts.gpu_type.empty() && !gpus.empty()) facts.gpu_type = gpus[0].TextOf("model");
  facts.command = TextIn(root, {"command"});
  std::vector<std::string> words;
  for (const JsonValue& word : root.Get("command").items())
    if (word.Text() != nullptr) words.push_back(*word.Text());
  if (facts.command.empty()) facts.command = Join(words, " ");
  if (environment.is_object()) facts.environment = ToJson(environment);
}

Result<ResultFile> Read(const ResultInput& input) {
  ResultFile file;
  file.is_one_run = true;
  const JsonValue& root = *input.json;
  TakeFacts(root, file.facts);
  const JsonValue& metrics = root.Get("metrics");
  for (size_t i = 0; i < metrics.items().size(); ++i) {
    const auto value = metrics.items()[i].Number();
    // The same memory in another unit is no metric of its own.
    if (metrics.keys()[i] == "memory_bytes" && metrics.Get("memory_usage_gb").Number()) continue;
    if (value) file.series.push_back(SeriesOf(metrics.keys()[i], *value));
  }
  file.series.push_back(TimesOf(root));
  return file;
}

}  // namespace

RESULTREADER(gapless) = {.name = "gapless",
                         .help = "gapless bench --json: processes, and steps within one process",
                         .recognises = Recognises,
                         .read = Read};

}  // namespace gapless::internal::gapless_resultreader
