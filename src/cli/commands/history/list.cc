// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/json_writer.h"
#include "base/strings.h"
#include "cli/commands/history/actions.h"
#include "cli/output.h"
#include "store/timestamp.h"
#include "store/transfer.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kColumns[] = {"id", "time", "commit", "branch", "benchmark", "samples/s", "step", "GPU"};
constexpr bool kRight[] = {true, false, false, false, false, true, true, false};
constexpr size_t kSecondsOnly = 19, kShownCommit = 12;  // characters
constexpr int kWidest = 28;                             // columns of one cell
constexpr double kMillisecondNs = 1e6;

std::vector<std::string> CellsOf(const BenchmarkRecord& record) {
  const MetricRecord* const rate = record.Find("samples_per_second");
  const MetricRecord* const step = record.Find("step_time_ms");
  std::string time = FormatTimestamp(record.recorded_unix_ns.value_or(0)).substr(0, kSecondsOnly);
  std::ranges::replace(time, 'T', ' ');
  std::string gpu = record.gpu_type;
  if (record.num_gpus.value_or(1) > 1) gpu = StrCat(*record.num_gpus, " × ", gpu.empty() ? "GPU" : gpu);
  return {StrCat(record.id),
          time,
          StrCat(record.commit_sha.substr(0, kShownCommit), record.dirty.value_or(false) ? "+" : ""),
          record.branch,
          record.benchmark,
          rate == nullptr ? "" : FormatNumber(rate->value, 1),
          step == nullptr ? "" : FormatDuration(static_cast<int64_t>(step->value * kMillisecondNs)),
          gpu};
}

std::string AsText(const std::vector<BenchmarkRecord>& records, const History& history) {
  if (records.empty()) return StrCat("no runs in ", Printable(history.place()), "\n");
  std::vector<std::vector<std::string>> rows = {{std::begin(kColumns), std::end(kColumns)}};
  for (const BenchmarkRecord& record : records) rows.push_back(CellsOf(record));
  std::vector<int> widths(std::size(kColumns), 0);
  for (std::vector<std::string>& row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = Ellipsize(Printable(row[i]), kWidest);
      if (&row != &rows.front()) widths[i] = std::max(widths[i], DisplayWidth(row[i]));
    }
  std::string out;
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      if (widths[i] == 0) continue;  // nothing in this column
      const int width = std::max(widths[i], DisplayWidth(rows.front()[i]));
      const std::string pad(static_cast<size_t>(width - DisplayWidth(row[i])), ' ');
      line += StrCat(line.empty() ? "" : "  ", kRight[i] ? pad : "", row[i], kRight[i] ? "" : pad);
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

void WriteRecord(JsonWriter& json, const BenchmarkRecord& record) {
  json.BeginObject();
  json.Field("id", record.id);
  json.Field("timestamp", FormatTimestamp(record.recorded_unix_ns.value_or(0)));
  json.FieldUnlessEmpty("commit_sha", record.commit_sha);
  json.FieldUnlessEmpty("branch", record.branch);
  json.Field("dirty", record.dirty);
  json.FieldUnlessEmpty("benchmark", record.benchmark);
  json.FieldUnlessEmpty("host", record.host);
  json.FieldUnlessEmpty("gpu_type", record.gpu_type);
  json.Field("num_gpus", record.num_gpus);
  json.Field("batch_size", record.batch_size);
  json.FieldUnlessEmpty("source", record.source);
  json.Key("metrics");
  json.BeginObject();
  for (const MetricRecord& metric : record.metrics) json.Field(metric.name, metric.value);
  json.EndObject();
  if (!record.verdicts.empty()) {
    json.Key("verdicts");
    json.BeginArray();
    for (const VerdictRecord& verdict : record.verdicts) {
      json.BeginObject();
      json.Field("timestamp", FormatTimestamp(verdict.recorded_unix_ns));
      json.FieldUnlessEmpty("metric", verdict.metric);
      json.Field("kind", verdict.kind);
      json.EndObject();
    }
    json.EndArray();
  }
  json.EndObject();
}

std::string AsJson(const std::vector<BenchmarkRecord>& records, const History& history) {
  std::string out;
  JsonWriter json(out, 2);
  json.BeginObject();
  WriteJsonHeader(json);
  json.Field("history", history.place());
  json.Key("runs");
  json.BeginArray();
  for (const BenchmarkRecord& record : records) WriteRecord(json, record);
  json.EndArray();
  json.EndObject();
  return out + "\n";
}

std::string AsCsv(const std::vector<BenchmarkRecord>& records) {
  std::string out = BenchmarksCsvHeader();
  for (const BenchmarkRecord& record : records) out += BenchmarksCsvRow(record);
  return out;
}

Result<std::optional<int64_t>> TimeFrom(const Arguments& arguments, std::string_view option, bool is_end) {
  if (!arguments.Has(option)) return std::optional<int64_t>();
  const std::string_view text = arguments.Value(option);
  const auto time = is_end ? ParseUntil(text) : ParseTimestamp(text);
  if (time) return time;
  return Fail(ErrorCode::kUsage, StrCat("--", option, " wants a date or a time, not '", Printable(text), "'"), "",
              StrCat("--", option, " 2026-11-21, or --", option, " 2026-11-21T18:30:00Z"));
}

}  // namespace

Result<HistoryFilter> FilterFrom(const Arguments& arguments) {
  HistoryFilter filter;
  const auto text = [&](std::string_view option, std::optional<std::string>& out) {
    if (arguments.Has(option)) out = std::string(arguments.Value(option));
  };
  text("branch", filter.branch);
  text("commit", filter.commit_sha);
  text("label", filter.benchmark);
  const auto since = TimeFrom(arguments, "since", false), until = TimeFrom(arguments, "until", true);
  if (!since) return Unexpected{since.error()};
  if (!until) return Unexpected{until.error()};
  filter.since_unix_ns = *since;
  filter.until_unix_ns = *until;
  const auto limit = arguments.Number("limit", 1, 0);
  if (!limit) return Unexpected{limit.error()};
  if (*limit > 0) filter.limit = *limit;
  return filter;
}

Result<int> HistoryList(const Arguments& arguments, const Session& session) {
  auto filter = FilterFrom(arguments);
  if (!filter) return Unexpected{filter.error()};
  filter->with_samples = false;
  auto history = History::Open(arguments.Value("db"));
  if (!history) return Unexpected{history.error()};
  std::vector<BenchmarkRecord> records;
  GAPLESS_TRY(history->Visit(*filter, [&](const BenchmarkRecord& record) -> Result<void> {
    if (session.cancel->load()) return Fail(ErrorCode::kInterrupted, "interrupted");
    records.push_back(record);
    return {};
  }));
  const auto text = [&] { return arguments.Has("csv") ? AsCsv(records) : AsText(records, *history); };
  return PrintTextOrJson(arguments, text, [&] { return AsJson(records, *history); });
}

}  // namespace gapless::internal
