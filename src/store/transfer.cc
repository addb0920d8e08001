// SPDX-License-Identifier: Apache-2.0
// Writes and reads histories as JSON lines and CSV. A record that is already in the history is skipped, and records are
// added some hundred per transaction.
//
// JSON lines hold everything and keep the uid, by which a record is known again. CSV has no uid: one is made from the
// digest of the row and its occurrence, and a row is skipped while the history has as many rows of the same digest. So
// two equal rows of one file stay two, and importing the file twice adds nothing. Counting needs one pass over the
// history without its samples, and memory for a digest per distinct row.
//
// An error names its line; the records before that line are stored.
#include "store/transfer.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "base/csv.h"
#include "base/json_value.h"
#include "base/json_writer.h"
#include "base/strings.h"
#include "store/metric_traits.h"
#include "store/timestamp.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kRecordLine = "gapless_history", kAdviceLine = "gapless_advice";
constexpr int64_t kLineVersion = 1;
constexpr size_t kRecordsAtOnce = 500;
// Below 2^53, up to which a double holds every whole number.
constexpr double kLargestWhole = 9e15;
constexpr int64_t kMillisecondNs = 1'000'000;

// Members that are written and read alike; the key is the name in JSON.
struct TextField {
  std::string_view key;
  std::string BenchmarkRecord::*member;
};
constexpr TextField kTexts[] = {
    {"uid", &BenchmarkRecord::uid},
    {"commit_sha", &BenchmarkRecord::commit_sha},
    {"branch", &BenchmarkRecord::branch},
    {"benchmark", &BenchmarkRecord::benchmark},
    {"command", &BenchmarkRecord::command},
    {"host", &BenchmarkRecord::host},
    {"fingerprint", &BenchmarkRecord::fingerprint},
    {"gpu_type", &BenchmarkRecord::gpu_type},
    {"framework", &BenchmarkRecord::framework},
    {"driver", &BenchmarkRecord::driver},
    {"environment", &BenchmarkRecord::environment},
    {"source", &BenchmarkRecord::source},
};
struct NumberField {
  std::string_view key;
  std::optional<int64_t> BenchmarkRecord::*member;
};
constexpr NumberField kNumbers[] = {
    {"recorded_unix_ns", &BenchmarkRecord::recorded_unix_ns},
    {"author_unix_ns", &BenchmarkRecord::author_unix_ns},
    {"num_gpus", &BenchmarkRecord::num_gpus},
    {"batch_size", &BenchmarkRecord::batch_size},
};

struct AdviceText {
  std::string_view key;
  std::string AdviceRecord::*member;
};
constexpr AdviceText kAdviceTexts[] = {
    {"uid", &AdviceRecord::uid},       {"what", &AdviceRecord::what},
    {"kind", &AdviceRecord::kind},     {"recording", &AdviceRecord::recording},
    {"source", &AdviceRecord::source},
};
struct AdviceShare {
  std::string_view key;
  double AdviceRecord::*member;
};
constexpr AdviceShare kAdviceShares[] = {
    {"measured", &AdviceRecord::measured},
    {"low", &AdviceRecord::low},
    {"expected", &AdviceRecord::expected},
    {"high", &AdviceRecord::high},
};

constexpr std::string_view kMetricColumns[] = {"samples_per_second", "gpu_utilization", "memory_usage_gb",
                                               "step_time_ms"};
constexpr std::string_view kColumns[] = {
    "id",           "timestamp", "commit_sha", "branch",    "samples_per_second", "gpu_utilization", "memory_usage_gb",
    "step_time_ms", "gpu_type",  "num_gpus",   "batch_size"};

// Writes a metric without the members that are absent.
void WriteMetric(JsonWriter& json, const MetricRecord& metric) {
  json.BeginObject();
  json.Field("name", metric.name);
  json.Field("value", metric.value);
  json.FieldUnlessEmpty("unit", metric.unit);
  json.Field("higher_is_better", metric.higher_is_better);
  if (metric.sampling != Sampling::kUnknown) json.Field("sampling", NameOf(metric.sampling));
  if (!metric.samples.empty()) {
    json.Key("samples");
    json.BeginArray();
    for (const double sample : metric.samples) json.Real(sample);
    json.EndArray();
  }
  json.EndObject();
}

Result<MetricRecord> MetricFrom(const JsonValue& value) {
  MetricRecord metric;
  metric.name = value.TextOf("name");
  const auto number = value.Get("value").Number();
  if (!number) return Fail(ErrorCode::kInput, StrCat("the metric '", Printable(metric.name), "' has no value"));
  metric.value = *number;
  metric.unit = value.TextOf("unit");
  metric.higher_is_better = value.Get("higher_is_better").Bool();
  metric.sampling = SamplingFrom(value.TextOf("sampling"));
  for (const JsonValue& sample : value.Get("samples").items()) {
    const auto one = sample.Number();
    if (!one) return Fail(ErrorCode::kInput, StrCat("a sample of '", Printable(metric.name), "' is not a number"));
    metric.samples.push_back(*one);
  }
  return metric;
}

// Returns a field of CSV, in quotes only if it needs them.
std::string Quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  return out + '"';
}

// Returns the columns of a record but its id, as texts; empty where absent. `to_the_millisecond` rounds the time down,
// because the view of SQLite shows no more digits.
std::vector<std::string> ColumnsOf(const BenchmarkRecord& record, bool to_the_millisecond) {
  const int64_t ns = record.recorded_unix_ns.value_or(0);
  const int64_t rest_ns = to_the_millisecond ? (ns % kMillisecondNs + kMillisecondNs) % kMillisecondNs : 0;
  std::vector<std::string> cells = {FormatTimestamp(ns - rest_ns), record.commit_sha, record.branch};
  for (const std::string_view name : kMetricColumns) {
    const MetricRecord* const metric = record.Find(name);
    cells.push_back(metric == nullptr ? "" : StrCat(metric->value));
  }
  cells.push_back(record.gpu_type);
  cells.push_back(record.num_gpus ? StrCat(*record.num_gpus) : "");
  cells.push_back(record.batch_size ? StrCat(*record.batch_size) : "");
  return cells;
}

// Adds the place to an error that has none.
Unexpected At(Error error, std::string_view path, int64_t line) {
  if (error.place.empty()) error.place = StrCat(path, ":line ", line);
  return {std::move(error)};
}

// Collects records and stores some hundred in one transaction. Tested predictions are stored one by one.
class Batch {
 public:
  explicit Batch(History& history) : history_(history) {}
  Result<void> Add(BenchmarkRecord record) {
    records_.push_back(std::move(record));
    return records_.size() < kRecordsAtOnce ? Result<void>() : Flush();
  }
  Result<void> Flush() {
    if (records_.empty()) return {};
    const auto recorded = history_.RecordAll(records_);
    records_.clear();
    if (!recorded) return Unexpected{recorded.error()};
    for (const Recorded& item : *recorded) ++(item.added ? imported_.added : imported_.present);
    return {};
  }
  // A line of an exported history.
  Result<void> AddLine(std::string_view line);
  void SkipOne() { ++imported_.present; }
  const Imported& imported() const { return imported_; }

 private:
  History& history_;
  std::vector<BenchmarkRecord> records_;
  Imported imported_;
};

// The version of a line of this kind; an error: it is of another kind, or of a newer gapless.
Result<void> CheckVersion(const JsonValue& json, std::string_view kind) {
  const auto version = json.Get(kind).Int();
  if (!version) return Fail(ErrorCode::kInput, "this is no line of an exported history", "", "gapless history export");
  if (*version > kLineVersion)
    return Fail(ErrorCode::kInput, "this line was exported by a newer gapless", "", "update gapless");
  return {};
}

Result<BenchmarkRecord> RecordFrom(const JsonValue& json) {
  GAPLESS_TRY(CheckVersion(json, kRecordLine));
  BenchmarkRecord record;
  for (const TextField& field : kTexts) record.*field.member = json.TextOf(field.key);
  for (const NumberField& field : kNumbers) record.*field.member = json.Get(field.key).Int();
  record.dirty = json.Get("dirty").Bool();
  for (const JsonValue& value : json.Get("metrics").items()) {
    auto metric = MetricFrom(value);
    if (!metric) return Unexpected{metric.error()};
    record.metrics.push_back(std::move(*metric));
  }
  for (const JsonValue& verdict : json.Get("verdicts").items())
    record.verdicts.push_back({verdict.Get("recorded_unix_ns").Int().value_or(0), verdict.TextOf("metric"),
                               verdict.TextOf("kind"), verdict.TextOf("detail")});
  return record;
}

Result<AdviceRecord> AdviceFrom(const JsonValue& json) {
  GAPLESS_TRY(CheckVersion(json, kAdviceLine));
  AdviceRecord advice;
  for (const AdviceText& field : kAdviceTexts) advice.*field.member = json.TextOf(field.key);
  for (const AdviceShare& field : kAdviceShares) advice.*field.member = json.Get(field.key).Number().value_or(0);
  advice.recorded_unix_ns = json.Get("recorded_unix_ns").Int().value_or(0);
  return advice;
}

constexpr const char* kNoUid = "the record has no uid";

// Stores a line of either kind. A record without a uid is refused: importing it twice would add it twice.
Result<void> Batch::AddLine(std::string_view line) {
  const auto json = JsonValue::Parse(line);
  if (!json) return Unexpected{json.error()};
  if (json->Get(kAdviceLine).kind() == JsonValue::Kind::kNull) {
    auto record = RecordFrom(*json);
    if (record && record->uid.empty()) return Fail(ErrorCode::kInput, kNoUid);
    return record ? Add(std::move(*record)) : Unexpected{record.error()};
  }
  const auto advice = AdviceFrom(*json);
  if (!advice) return Unexpected{advice.error()};
  if (advice->uid.empty()) return Fail(ErrorCode::kInput, kNoUid);
  const auto added = history_.RecordAdvice(*advice);
  if (!added) return Unexpected{added.error()};
  ++(*added ? imported_.advice : imported_.present);
  return {};
}

Result<Imported> ImportLines(History& history, std::string_view text, std::string_view path) {
  Batch batch(history);
  int64_t number = 0;
  while (!text.empty()) {
    ++number;
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    // Flushes what came before, as the contract of the header says, before it reports the line.
    if (auto added = batch.AddLine(line); !added) {
      GAPLESS_TRY(batch.Flush());
      return At(added.error(), path, number);
    }
  }
  if (auto added = batch.Flush(); !added) return At(added.error(), path, number);
  return batch.imported();
}

std::optional<double> RealOf(const std::string& text) {
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// Takes one cell into the record. Unknown columns are ignored; a number may be written as 8 or 8.0.
Result<void> TakeCell(std::string_view column, const std::string& cell, BenchmarkRecord& record) {
  const auto refuse = [&](std::string_view what) {
    return Fail(ErrorCode::kInput, StrCat("'", Printable(Ellipsize(cell, 40)), "' in ", column, " is no ", what));
  };
  if (column == "commit_sha") record.commit_sha = cell;
  if (column == "branch") record.branch = cell;
  if (column == "gpu_type") record.gpu_type = cell;
  if (column == "timestamp") {
    record.recorded_unix_ns = ParseTimestamp(cell);
    return record.recorded_unix_ns ? Result<void>() : refuse("time");
  }
  const auto number = RealOf(cell);
  if (column == "num_gpus" || column == "batch_size") {
    if (!number || std::fabs(*number) > kLargestWhole || *number != std::floor(*number)) return refuse("whole number");
    (column == "num_gpus" ? record.num_gpus : record.batch_size) = static_cast<int64_t>(*number);
  }
  for (const std::string_view name : kMetricColumns) {
    if (name != column) continue;
    if (!number) return refuse("number");
    const MetricTraits traits = TraitsOf(name);
    record.metrics.push_back({.name = std::string(name),
                              .value = *number,
                              .unit = std::string(traits.unit),
                              .higher_is_better = traits.higher_is_better,
                              .samples = {}});
  }
  return {};
}

// Counts the occurrences of each row of the view in the history.
Result<std::map<std::string, int64_t>> CountRows(History& history) {
  std::map<std::string, int64_t> counts;
  GAPLESS_TRY(history.Visit({.with_samples = false}, [&](const BenchmarkRecord& record) -> Result<void> {
    ++counts[DigestOf(ColumnsOf(record, true))];
    return {};
  }));
  return counts;
}

Result<BenchmarkRecord> RecordFromRow(const std::vector<std::string>& names, const std::vector<std::string>& row) {
  if (row.size() != names.size())
    return Fail(ErrorCode::kInput, StrCat(row.size(), " fields where the first line has ", names.size()));
  BenchmarkRecord record;
  record.source = "csv";
  for (size_t i = 0; i < names.size(); ++i)
    if (!row[i].empty()) GAPLESS_TRY(TakeCell(names[i], row[i], record));
  if (!record.recorded_unix_ns) return Fail(ErrorCode::kInput, "the row has no timestamp");
  return record;
}

// Imports rows of the view; the columns may stand in any order.
Result<Imported> ImportCsv(History& history, std::string_view text, std::string_view path) {
  CsvReader csv(text);
  std::vector<std::string> names, row;
  csv.Next(names);
  auto there = CountRows(history);
  if (!there) return Unexpected{there.error()};
  std::map<std::string, int64_t> seen;
  Batch batch(history);
  int64_t number = 1;
  while (csv.Next(row)) {
    ++number;
    if (row.size() == 1 && row[0].empty()) continue;
    auto record = RecordFromRow(names, row);
    if (!record) {
      GAPLESS_TRY(batch.Flush());
      return At(record.error(), path, number);
    }
    const std::string digest = DigestOf(ColumnsOf(*record, true));
    const int64_t time = ++seen[digest];
    record->uid = StrCat("csv-", digest, "-", time);
    if (time <= (*there)[digest])
      batch.SkipOne();
    else if (auto added = batch.Add(std::move(*record)); !added)
      return At(added.error(), path, number);
  }
  if (auto added = batch.Flush(); !added) return At(added.error(), path, number);
  // The rows before the one that breaks off are stored.
  if (csv.cut()) return Fail(ErrorCode::kInput, "the last row is cut off", StrCat(path, ":line ", number + 1));
  return batch.imported();
}

}  // namespace

std::string LineOf(const BenchmarkRecord& record) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Field(kRecordLine, kLineVersion);
  for (const TextField& field : kTexts) json.FieldUnlessEmpty(field.key, record.*field.member);
  for (const NumberField& field : kNumbers) json.Field(field.key, record.*field.member);
  json.Field("dirty", record.dirty);
  json.Key("metrics");
  json.BeginArray();
  for (const MetricRecord& metric : record.metrics) WriteMetric(json, metric);
  json.EndArray();
  if (!record.verdicts.empty()) {
    json.Key("verdicts");
    json.BeginArray();
    for (const VerdictRecord& verdict : record.verdicts) {
      json.BeginObject();
      json.Field("recorded_unix_ns", verdict.recorded_unix_ns);
      json.FieldUnlessEmpty("metric", verdict.metric);
      json.Field("kind", verdict.kind);
      json.FieldUnlessEmpty("detail", verdict.detail);
      json.EndObject();
    }
    json.EndArray();
  }
  json.EndObject();
  return out;
}

Result<BenchmarkRecord> RecordFromLine(std::string_view line) {
  const auto json = JsonValue::Parse(line);
  return json ? RecordFrom(*json) : Unexpected{json.error()};
}

std::string LineOf(const AdviceRecord& advice) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Field(kAdviceLine, kLineVersion);
  for (const AdviceText& field : kAdviceTexts) json.FieldUnlessEmpty(field.key, advice.*field.member);
  json.Field("recorded_unix_ns", advice.recorded_unix_ns);
  for (const AdviceShare& field : kAdviceShares) json.Field(field.key, advice.*field.member);
  json.EndObject();
  return out;
}

Result<AdviceRecord> AdviceFromLine(std::string_view line) {
  const auto json = JsonValue::Parse(line);
  return json ? AdviceFrom(*json) : Unexpected{json.error()};
}

std::string BenchmarksCsvHeader() {
  std::string out;
  for (const std::string_view column : kColumns) out += StrCat(out.empty() ? "" : ",", column);
  return out + "\r\n";
}

std::string BenchmarksCsvRow(const BenchmarkRecord& record) {
  std::string out = StrCat(record.id);
  for (const std::string& cell : ColumnsOf(record, false)) out += StrCat(",", Quoted(cell));
  return out + "\r\n";
}

Result<Imported> ImportInto(History& history, std::string_view text, std::string_view path) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return Imported();
  if (text[first] == '{') return ImportLines(history, text, path);
  std::vector<std::string> names;
  CsvReader csv(text);
  csv.Next(names);
  if (std::ranges::find(names, "timestamp") == names.end())
    return Fail(ErrorCode::kInput, "this is no exported history", std::string(path),
                "JSON lines of `gapless history export`, or CSV with the columns of the view benchmarks");
  return ImportCsv(history, text, path);
}

}  // namespace gapless::internal
