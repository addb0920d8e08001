// SPDX-License-Identifier: Apache-2.0
// Reads result files of benchmark tools: detects the tool from the content, makes the names of series unique,
// and says what a unit means.
//
// The content decides, never the name of the file. A text that begins with a brace or bracket must be complete JSON. A
// file is held in memory as a whole, up to 512 MiB. Values that are not finite are dropped; a file without any value is
// an error, which names the runs that failed.
#include "store/result_reader.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "base/json_value.h"
#include "base/order_statistics.h"
#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kPlain = "plain";
constexpr std::string_view kBlank = " \t\r\n\xEF\xBB\xBF";

std::string KnownTools() {
  std::vector<std::string> names;
  for (const ResultReader* reader : AllResultReaders()) names.emplace_back(reader->name);
  return Join(names, ", ");
}

// Returns the reader of the file; null if no reader recognises it. Plain numbers are asked for last, because many files
// hold some.
const ResultReader* ReaderOf(const ResultInput& input) {
  const ResultReader* plain = nullptr;
  for (const ResultReader* reader : AllResultReaders()) {
    if (reader->name == kPlain)
      plain = reader;
    else if (reader->recognises(input))
      return reader;
  }
  return plain->recognises(input) ? plain : nullptr;
}

// Makes names unique, as readers must: the second of two equal ones gets "#2". Series without finite values are
// removed.
void Tidy(std::vector<ResultSeries>& series) {
  std::map<std::string, int> times;
  for (ResultSeries& result_series : series) {
    std::erase_if(result_series.values, [](double value) { return !std::isfinite(value); });
    if (result_series.values.empty()) continue;
    if (const int time = ++times[result_series.name]; time > 1) result_series.name += StrCat("#", time);
  }
  std::erase_if(series, [](const ResultSeries& result_series) { return result_series.values.empty(); });
}

// The assignment in front of the data of github-action-benchmark's page, data.js: what follows is JSON.
std::string_view WithoutAssignment(std::string_view text) {
  constexpr std::string_view kBefore = "window.BENCHMARK_DATA";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos || !text.substr(first).starts_with(kBefore)) return text;
  const size_t brace = text.find('{', first);
  if (brace == std::string_view::npos) return text;
  text = text.substr(brace);
  const size_t last = text.find_last_not_of("; \t\r\n");
  return text.substr(0, last + 1);
}

// The objects of a text with one on each line, as an array; the text itself if it is none.
Result<JsonValue> ParseLines(std::string_view text) {
  std::string array = "[";
  for (const std::string_view line : Split(text, '\n')) {
    const size_t first = line.find_first_not_of(kBlank);
    if (first == std::string_view::npos) continue;
    if (line[first] != '{') return JsonValue::Parse(text);
    if (array.size() > 1) array += ',';
    array += line;
  }
  auto lines = JsonValue::Parse(array + "]");
  return lines ? std::move(lines) : JsonValue::Parse(text);
}

// Returns the error of a file without a single value.
Unexpected NoValues(const ResultFile& file, std::string_view path) {
  if (file.failed.empty())
    return Fail(ErrorCode::kInput, StrCat("the results of ", file.tool, " hold no values"), std::string(path));
  return Fail(ErrorCode::kInput, StrCat("there is no result: ", DescribeAllFailed(file)), std::string(path),
              "a run that fails measures nothing; mend the command and measure again");
}

}  // namespace

std::string DescribeFailed(const FailedRuns& failed) {
  const std::string of = failed.series.empty() ? "" : StrCat("'", Printable(Ellipsize(failed.series, 60)), "'");
  const std::string many = StrCat(failed.what, failed.all.value_or(failed.failed) == 1 ? "" : "s");
  const std::string who = failed.all          ? StrCat(failed.failed, " of ", *failed.all, " ", many)
                          : failed.failed > 1 ? StrCat(failed.failed, " ", many)
                                              : StrCat("the ", failed.what);
  const std::string_view between = of.empty() ? "" : failed.all || failed.failed > 1 ? " of " : " ";
  return StrCat(who, between, of, failed.may_be_left_out ? " failed or was left out" : " failed",
                failed.why.empty() ? "" : StrCat(" (", Printable(Ellipsize(failed.why, 80)), ")"));
}

std::string DescribeAllFailed(const ResultFile& file) {
  constexpr size_t kMost = 5;
  std::vector<std::string> said;
  for (const FailedRuns& failed : file.failed) {
    if (said.size() == kMost) {
      said.push_back(StrCat(file.failed.size() - kMost, " more"));
      break;
    }
    said.push_back(DescribeFailed(failed));
  }
  return Join(said, "; ");
}

bool HasFailed(const ResultFile& file, std::string_view series) {
  return std::ranges::any_of(file.failed, [&](const FailedRuns& failed) {
    return !failed.may_be_left_out && (failed.series.empty() || failed.series == series);
  });
}

Result<ResultFile> ReadResults(std::string_view text, std::string_view path, std::string_view column) {
  text = WithoutAssignment(text);
  const size_t first = text.find_first_not_of(kBlank);
  const bool like_json = first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
  Result<JsonValue> json = like_json ? JsonValue::Parse(text) : Result<JsonValue>(JsonValue());
  if (!json && text[first] == '{') json = ParseLines(text);
  if (!json) return Fail(ErrorCode::kInput, json.error().message, std::string(path), "is the file complete?");
  const ResultInput input{.path = path, .text = text, .json = like_json ? &*json : nullptr, .column = column};
  const ResultReader* const reader = ReaderOf(input);
  if (reader == nullptr)
    return Fail(ErrorCode::kInput, "these are no results of a tool that is known", std::string(path),
                "there are: " + KnownTools());
  auto file = reader->read(input);
  if (!file) {
    if (file.error().place.empty()) file.error().place = path;
    return file;
  }
  file->tool = reader->name;
  Tidy(file->series);
  if (file->series.empty()) return NoValues(*file, path);
  return file;
}

Result<ResultFile> ReadResultFile(const std::string& path, std::string_view column) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return Fail(ErrorCode::kInput, std::strerror(errno), path);
  // A pipe is allowed for `<(command)` of a shell; reading a folder or a device would fail late or never end.
  if (!S_ISREG(about.st_mode) && !S_ISFIFO(about.st_mode)) return Fail(ErrorCode::kInput, "this is no file", path);
  std::ifstream in(path, std::ios::binary);
  std::string text;
  std::vector<char> block(size_t{1} << 20);
  while (in && text.size() <= kLargestResultFile) {
    in.read(block.data(), static_cast<std::streamsize>(block.size()));
    text.append(block.data(), static_cast<size_t>(in.gcount()));
  }
  if (in.bad() || !in.eof()) {
    const bool large = text.size() > kLargestResultFile;
    return Fail(ErrorCode::kInput, large ? "larger than 512 MiB" : "cannot read the file", path);
  }
  return ReadResults(text, path, column);
}

Result<BenchmarkRecord> RecordFrom(const ResultFile& file) {
  if (!file.runs.empty())
    return Fail(ErrorCode::kInput, StrCat("this is a history of ", file.runs.size(), " runs, and not one result"), "",
                "gapless gate FILE judges its last run, gapless history import FILE takes all of them");
  BenchmarkRecord record = file.facts;
  record.source = file.tool;
  for (const ResultSeries& series : file.series) {
    if (HasFailed(file, series.name)) continue;
    MetricRecord metric{.name = series.name,
                        .value = MedianOf(std::vector(series.values)),
                        .unit = series.unit,
                        .higher_is_better = series.higher_is_better,
                        .sampling = series.unit_of_sampling,
                        .samples = {}};
    if (series.values.size() > 1) metric.samples = series.values;
    record.metrics.push_back(std::move(metric));
  }
  if (record.metrics.empty()) return NoValues(file, "");
  return record;
}

// Reads what the unit of a value says: whether it is a time, and whether more is better. Tools write units as they
// like; what is not known here keeps its unit, and no direction is made up for it.

namespace {

struct TimeUnit {
  std::string_view name;
  double seconds;
};
constexpr TimeUnit kTimes[] = {
    {"s", 1},       {"sec", 1},     {"secs", 1},           {"second", 1},          {"seconds", 1},
    {"ms", 1e-3},   {"msec", 1e-3}, {"millisecond", 1e-3}, {"milliseconds", 1e-3}, {"us", 1e-6},
    {"usec", 1e-6}, {"µs", 1e-6},   {"μs", 1e-6},          {"microsecond", 1e-6},  {"microseconds", 1e-6},
    {"ns", 1e-9},   {"nsec", 1e-9}, {"nanosecond", 1e-9},  {"nanoseconds", 1e-9},  {"min", 60},
    {"minutes", 60}};
constexpr std::string_view kSizes[] = {"b", "byte", "bytes", "kb", "kib", "mb", "mib", "gb", "gib"};
constexpr std::string_view kPerTime[] = {"/s", "/sec", "/second", "/ms", "/us", "/min", "per second", "per sec"};
constexpr std::string_view kRates[] = {"fps", "flops", "gflops", "tflops", "qps", "rps", "tps", "hz"};

std::string Lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

}  // namespace

// "ns/iter" and "ms/op" are times, too: what they are per is one of the thing measured.
std::optional<double> SecondsIn(std::string_view unit) {
  const std::string name = Lower(unit);
  const std::string_view time = std::string_view(name).substr(0, name.find('/'));
  for (const TimeUnit& known : kTimes)
    if (time == known.name) return known.seconds;
  return std::nullopt;
}

std::optional<bool> HigherIsBetterBy(std::string_view unit) {
  if (SecondsIn(unit)) return false;
  const std::string name = Lower(unit);
  if (std::ranges::find(kSizes, name) != std::end(kSizes)) return false;
  if (std::ranges::find(kRates, name) != std::end(kRates)) return true;
  for (const std::string_view per : kPerTime)
    if (name.ends_with(per)) return true;
  return std::nullopt;
}

}  // namespace gapless::internal
