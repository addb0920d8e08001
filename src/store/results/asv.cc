// SPDX-License-Identifier: Apache-2.0
// asv (airspeed velocity), a result file of one commit: each benchmark has a value for each combination of its
// parameters, in the order of their product, and with --record-samples the samples behind them. Samples come from a few
// processes one after the other without naming the process of each value. The unit is not in the file but follows from
// the kind of benchmark, which its name begins with. A value that is missing failed (null) or was left out on
// purpose (NaN); versions differ in which they write.
#include "base/strings.h"
#include "store/result_reader.h"

namespace gapless::internal::asv_resultreader {
namespace {

// Returns true for the result file of one commit.
bool Recognises(const ResultInput& input) {
  return input.json != nullptr && input.json->Get("results").is_object() && input.json->Get("commit_hash").Text();
}

// Returns the unit that the prefix of the benchmark's function stands for; "" for track_… and anything else.
std::string UnitOf(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('.') + 1);
  if (last.starts_with("time_") || last.starts_with("timeraw_")) return "s";
  return last.starts_with("mem_") || last.starts_with("peakmem_") ? "bytes" : "";
}

// The values of parameters for each place of the results: "(10, 'a')"; nothing without parameters.
std::vector<std::string> Combinations(const JsonValue& parameters) {
  std::vector<std::string> all = {""};
  constexpr size_t kMax = 100'000;
  for (const JsonValue& values : parameters.items()) {
    std::vector<std::string> longer;
    for (const std::string& before : all)
      for (const JsonValue& value : values.items()) {
        const std::string word = value.Text() != nullptr ? *value.Text() : ToJson(value);
        if (longer.size() < kMax) longer.push_back(before.empty() ? word : StrCat(before, ", ", word));
      }
    all = std::move(longer);
  }
  return all;
}

// One benchmark: a row of columns (version 2), or an object or a bare value (version 1).
struct Entry {
  const JsonValue* result = nullptr;
  const JsonValue* parameters = nullptr;
  const JsonValue* samples = nullptr;
};

// Finds result, parameters and samples in either version of the format. What is missing is a null value, not a null
// pointer.
Entry EntryOf(const JsonValue& value, const JsonValue& columns) {
  if (value.is_object()) return {&value.Get("result"), &value.Get("params"), &value.Get("samples")};
  static const JsonValue kNothing;
  Entry entry{&kNothing, &kNothing, &kNothing};
  if (!value.is_array()) return {&value, &kNothing, &kNothing};
  for (size_t i = 0; i < value.items().size() && i < columns.items().size(); ++i) {
    const std::string* const column = columns.items()[i].Text();
    if (column == nullptr) continue;
    if (*column == "result") entry.result = &value.items()[i];
    if (*column == "params") entry.parameters = &value.items()[i];
    if (*column == "samples") entry.samples = &value.items()[i];
  }
  return entry;
}

// Adds a series per combination of parameters that has a value. Without samples the value itself is the series, of
// unknown sampling.
void AddSeries(const std::string& name, const Entry& entry, ResultFile& file) {
  const std::vector<std::string> combinations = Combinations(*entry.parameters);
  const bool is_list = entry.result->is_array();
  for (size_t i = 0; i < (is_list ? entry.result->items().size() : 1); ++i) {
    const bool plain = i >= combinations.size() || combinations[i].empty();
    const auto value = (is_list ? entry.result->items()[i] : *entry.result).Number();
    const std::string own_name = plain ? name : StrCat(name, "(", combinations[i], ")");
    if (!value) {
      file.failed.push_back({own_name, 1, {}, "benchmark", {}, true});
      continue;
    }
    ResultSeries series{.name = own_name,
                        .unit = UnitOf(name),
                        .values = {},
                        .unit_of_sampling = Sampling::kIteration,
                        .higher_is_better = std::nullopt};
    if (!series.unit.empty()) series.higher_is_better = false;
    if (i < entry.samples->items().size())
      for (const JsonValue& sample : entry.samples->items()[i].items())
        if (const auto number = sample.Number()) series.values.push_back(*number);
    if (series.values.empty()) {
      series.values.push_back(*value);
      series.unit_of_sampling = Sampling::kUnknown;
    }
    file.series.push_back(std::move(series));
  }
}

Result<ResultFile> Read(const ResultInput& input) {
  ResultFile file;
  const JsonValue& root = *input.json;
  file.facts.commit_sha = root.TextOf("commit_hash");
  file.facts.host = root.Get("params").TextOf("machine");
  constexpr int64_t kMillisecondNs = 1'000'000;
  if (const auto ms = root.Get("date").Int(); ms && *ms > 0 && *ms < INT64_MAX / kMillisecondNs)
    file.facts.author_unix_ns = *ms * kMillisecondNs;  // asv's date is the commit's
  const JsonValue& results = root.Get("results");
  for (size_t i = 0; i < results.items().size(); ++i)
    AddSeries(results.keys()[i], EntryOf(results.items()[i], root.Get("result_columns")), file);
  return file;
}

}  // namespace

RESULTREADER(asv) = {.name = "asv",
                     .help = "asv --record-samples, the file of a commit: samples within one process",
                     .recognises = Recognises,
                     .read = Read};

}  // namespace gapless::internal::asv_resultreader
