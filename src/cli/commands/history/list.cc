// SPDX-License-Identifier: Apache-2.0
// Lists the runs of a history as text, JSON or CSV, after filtering by branch, commit and time. Samples are not read:
// no format of the list shows them.
//
//   id  time                 commit  branch  samples/s     step  GPU
//    2  2026-03-01 12:00:00  abc     main               80.2 ms
//    1  2026-03-02 00:00:00  def     main        812.5  78.8 ms  8 × NVIDIA H100
#include <algorithm>

#include "base/described_json.h"
#include "base/strings.h"
#include "base/timestamp.h"
#include "cli/history_actions.h"
#include "cli/output.h"
#include "store/benchmarks_csv.h"

namespace gapless::internal {
namespace documents {

struct HistoryVerdict {
  std::string timestamp{}, metric{}, kind{};
  static constexpr FieldInfo kFields[] = {
      Field<&HistoryVerdict::timestamp>("timestamp", "", "when it was given"),
      Field<&HistoryVerdict::metric>("metric", "", "the metric that it is about", kUnlessEmpty),
      Field<&HistoryVerdict::kind>("kind", "", "the verdict"),
  };
};

// A run; what was not recorded is missing. Samples are not part of the list.
struct HistoryRun {
  int64_t id = 0;
  std::string timestamp{}, commit_sha{}, branch{};
  std::optional<bool> dirty{};
  std::string benchmark{}, host{}, gpu_type{};
  std::optional<int64_t> num_gpus{}, batch_size{};
  std::string source{};
  std::vector<std::pair<std::string, double>> metrics{};
  std::vector<HistoryVerdict> verdicts{};
  static constexpr FieldInfo kFields[] = {
      Field<&HistoryRun::id>("id", "", "id of the run"),
      Field<&HistoryRun::timestamp>("timestamp", "", "when it was recorded"),
      Field<&HistoryRun::commit_sha>("commit_sha", "", "commit that was measured", kUnlessEmpty),
      Field<&HistoryRun::branch>("branch", "", "its branch", kUnlessEmpty),
      Field<&HistoryRun::dirty>("dirty", "", "true: with changes that are not committed"),
      Field<&HistoryRun::benchmark>("benchmark", "", "label of the benchmark", kUnlessEmpty),
      Field<&HistoryRun::host>("host", "", "name of the machine", kUnlessEmpty),
      Field<&HistoryRun::gpu_type>("gpu_type", "", "model of the GPUs", kUnlessEmpty),
      Field<&HistoryRun::num_gpus>("num_gpus", "count", "GPUs of the machine"),
      Field<&HistoryRun::batch_size>("batch_size", "count", "samples a step"),
      Field<&HistoryRun::source>("source", "", "program whose result it is", kUnlessEmpty),
      Field<&HistoryRun::metrics>("metrics", "", "value of each metric", kNullable),
      Field<&HistoryRun::verdicts>("verdicts", "", "what gapless gate said of it", kUnlessEmpty),
  };
};

struct HistoryRuns {
  std::string history{};
  std::vector<HistoryRun> runs{};
  static constexpr FieldInfo kFields[] = {
      Field<&HistoryRuns::history>("history", "", "file or database"),
      Field<&HistoryRuns::runs>("runs", "", "runs that were asked for"),
  };
};

}  // namespace documents

namespace {

// The columns of the text, and which of them are right-aligned.
constexpr std::string_view kHeads[] = {"id", "time", "commit", "branch", "benchmark", "samples/s", "step", "GPU"};
constexpr bool kRightAligned[] = {true, false, false, false, false, true, true, false};
constexpr size_t kSecondsOnly = 19;  // characters
constexpr int kWidestCell = 28;      // columns
constexpr double kMillisecondNs = 1e6;

// Returns the cells of a run; "+" after the commit marks changes that are not committed.
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

// Writes a table; columns that no run fills are left out.
std::string AsText(const std::vector<BenchmarkRecord>& records, const History& history) {
  if (history.is_absent()) return StrCat("there is no history yet in ", Printable(history.place()), "\n");
  if (records.empty()) return StrCat("no runs in ", Printable(history.place()), "\n");
  std::vector<std::vector<std::string>> rows = {{std::begin(kHeads), std::end(kHeads)}};
  for (const BenchmarkRecord& record : records) rows.push_back(CellsOf(record));
  std::vector<int> widths(std::size(kHeads), 0);
  for (std::vector<std::string>& row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = Ellipsize(Printable(row[i]), kWidestCell);
      if (&row != &rows.front()) widths[i] = std::max(widths[i], DisplayWidth(row[i]));
    }
  std::string out;
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      if (widths[i] == 0) continue;  // nothing in this column
      const int width = std::max(widths[i], DisplayWidth(rows.front()[i]));
      const std::string pad(static_cast<size_t>(width - DisplayWidth(row[i])), ' ');
      line += StrCat(line.empty() ? "" : "  ", kRightAligned[i] ? pad : "", row[i], kRightAligned[i] ? "" : pad);
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

documents::HistoryRun RunOf(const BenchmarkRecord& record) {
  documents::HistoryRun run{.id = record.id,
                            .timestamp = FormatTimestamp(record.recorded_unix_ns.value_or(0)),
                            .commit_sha = record.commit_sha,
                            .branch = record.branch,
                            .dirty = record.dirty,
                            .benchmark = record.benchmark,
                            .host = record.host,
                            .gpu_type = record.gpu_type,
                            .num_gpus = record.num_gpus,
                            .batch_size = record.batch_size,
                            .source = record.source};
  for (const MetricRecord& metric : record.metrics) run.metrics.emplace_back(metric.name, metric.value);
  for (const VerdictRecord& verdict : record.verdicts)
    run.verdicts.push_back({FormatTimestamp(verdict.recorded_unix_ns), verdict.metric, std::string(verdict.kind)});
  return run;
}

std::string AsJson(const std::vector<BenchmarkRecord>& records, const History& history) {
  documents::HistoryRuns document{.history = std::string(history.place())};
  for (const BenchmarkRecord& record : records) document.runs.push_back(RunOf(record));
  return DocumentOf("history", document);
}

// A terminal gets no control characters; a file and a pipe get the texts as recorded, for `import`.
std::string AsCsv(const std::vector<BenchmarkRecord>& records, bool to_terminal) {
  constexpr std::string_view kLineEnd = "\r\n";
  std::string out = BenchmarksCsvHeader();
  for (const BenchmarkRecord& record : records) {
    const std::string row = BenchmarksCsvRow(record);
    out += to_terminal ? Printable(row.substr(0, row.size() - kLineEnd.size())) + std::string(kLineEnd) : row;
  }
  return out;
}

Result<int64_t> ReadDate(const OptionSpec& option, std::string_view text, std::optional<int64_t> time) {
  if (time) return *time;
  return Fail(ErrorCode::kUsage, StrCat("--", option.name, " requires a date or a time, not '", Printable(text), "'"),
              "", StrCat("--", option.name, " 2026-11-21, or --", option.name, " 2026-11-21T18:30:00Z"));
}

}  // namespace

constinit const TypeInfo kHistoryListDocument = describe::MakeType<documents::HistoryRuns>();

Result<int64_t> ReadSince(const OptionSpec& option, std::string_view text) {
  return ReadDate(option, text, ParseTimestamp(text));
}
Result<int64_t> ReadUntil(const OptionSpec& option, std::string_view text) {
  return ReadDate(option, text, ParseUntil(text));
}

HistoryFilter FilterOf(const HistoryOptions& options) {
  return {.branch = options.branch,
          .benchmark = options.label,
          .commit_sha = options.commit,
          .since_unix_ns = options.since,
          .until_unix_ns = options.until,
          .limit = options.limit};
}

// Holds the runs that pass the filter, because the widths of the columns depend on all of them.
Result<int> HistoryList(const HistoryArguments& arguments, const Session& session) {
  if (!arguments.file.empty())
    return Fail(ErrorCode::kUsage, "history list takes no file", "", "gapless history --help");
  HistoryFilter filter = FilterOf(arguments);
  filter.with_samples = false;
  GAPLESS_ASSIGN(auto history, History::OpenToRead(arguments.db));
  std::vector<BenchmarkRecord> records;
  GAPLESS_TRY(history.Visit(filter, [&](const BenchmarkRecord& record) -> Result<void> {
    // Looked at between two records: a history can hold many.
    if (session.cancel->load()) return Fail(ErrorCode::kInterrupted, "interrupted");
    records.push_back(record);
    return {};
  }));
  const auto text = [&] { return arguments.csv ? AsCsv(records, session.terminal.is_tty) : AsText(records, history); };
  return PrintTextOrJson(arguments, text, [&] { return AsJson(records, history); });
}

}  // namespace gapless::internal
