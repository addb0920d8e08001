// SPDX-License-Identifier: Apache-2.0
// Writes and reads rows of the view `benchmarks` as CSV.
#include "store/benchmarks_csv.h"

#include <charconv>
#include <cmath>

#include "base/strings.h"
#include "base/timestamp.h"
#include "store/metric_traits.h"

namespace gapless::internal {
namespace {

// Below 2^53, up to which a double holds every whole number.
constexpr double kLargestWhole = 9e15;
constexpr int64_t kMillisecondNs = 1'000'000;

constexpr std::string_view kMetricColumns[] = {"samples_per_second", "gpu_utilization", "memory_usage_gb",
                                               "step_time_ms"};
constexpr std::string_view kColumns[] = {
    "id",           "timestamp", "commit_sha", "branch",    "samples_per_second", "gpu_utilization", "memory_usage_gb",
    "step_time_ms", "gpu_type",  "num_gpus",   "batch_size"};

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

}  // namespace

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

std::string RowDigestOf(const BenchmarkRecord& record) { return DigestOf(ColumnsOf(record, true)); }

}  // namespace gapless::internal
