// SPDX-License-Identifier: Apache-2.0
// Records results in a history, and accepts a run as the new level. Values of options replace those of the file, and
// those of the file replace git's. Every call makes a new run, also for a file that was recorded before.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "base/described_json.h"
#include "base/strings.h"
#include "cli/history_actions.h"
#include "cli/loading.h"
#include "cli/output.h"
#include "collect/machine.h"
#include "diagnose/findings.h"
#include "diagnose/step_ledger.h"
#include "proof/result_json.h"
#include "store/result_reader.h"

namespace gapless::internal {
namespace documents {

// A metric whose name means different quantities in different tools.
struct RecordedFormula {
  std::string metric{};
  std::string_view formula{}, own_name{};
  static constexpr FieldInfo kFields[] = {
      Field<&RecordedFormula::metric>("metric", "", "name of the metric"),
      Field<&RecordedFormula::formula>("formula", "", "how the tool computes it"),
      Field<&RecordedFormula::own_name>("own_name", "", "name of this quantity in docs/definitions.md", kUnlessEmpty),
  };
};

// The document of `record`.
struct HistoryRecorded {
  std::string history{};
  int64_t id = 0;
  std::string uid{}, commit_sha{}, branch{};
  std::optional<bool> dirty{};
  std::string benchmark{}, source{};
  std::vector<std::pair<std::string, double>> metrics{};
  std::vector<RecordedFormula> formulas{};
  static constexpr FieldInfo kFields[] = {
      Field<&HistoryRecorded::history>("history", "", "file or database"),
      Field<&HistoryRecorded::id>("id", "", "id of the run in it"),
      Field<&HistoryRecorded::uid>("uid", "", "id that the run keeps in every history"),
      Field<&HistoryRecorded::commit_sha>("commit_sha", "", "commit that was measured", kUnlessEmpty),
      Field<&HistoryRecorded::branch>("branch", "", "its branch", kUnlessEmpty),
      Field<&HistoryRecorded::dirty>("dirty", "", "true: with changes that are not committed"),
      Field<&HistoryRecorded::benchmark>("benchmark", "", "label of the benchmark", kUnlessEmpty),
      Field<&HistoryRecorded::source>("source", "", "program whose result it is", kUnlessEmpty),
      Field<&HistoryRecorded::metrics>("metrics", "", "value of each metric", kNullable),
      Field<&HistoryRecorded::formulas>("formulas", "", "metrics of servers, as their tool computes them",
                                        kUnlessEmpty),
  };
};

struct HistoryAccepted {
  int64_t accepted = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&HistoryAccepted::accepted>("accepted", "", "id of the run from which on its level is the new baseline"),
  };
};

// The facts of this machine that go into a record.
struct RecordedHost {
  std::string name{}, kernel{}, cpu{};
  int64_t cores = 0, memory_bytes = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&RecordedHost::name>("name", "", "name of the machine"),
      Field<&RecordedHost::kernel>("kernel", "", "operating system"),
      Field<&RecordedHost::cpu>("cpu", "", "model of the processor", kUnlessEmpty),
      Field<&RecordedHost::cores>("cores", "count", "cores that the process may use"),
      Field<&RecordedHost::memory_bytes>("memory_bytes", "bytes", "memory", kUnlessEmpty),
  };
};

struct RecordedPlace {
  RecordedHost host{};
  static constexpr FieldInfo kFields[] = {Field<&RecordedPlace::host>("host", "", "the machine")};
};

}  // namespace documents

namespace {

// Adds one metric given as NAME=VALUE; it replaces the file's metric of the same name.
Result<void> AddMetric(const std::string& text, BenchmarkRecord& record) {
  const size_t equals = text.rfind('=');
  const std::string name = text.substr(0, equals), value = equals == std::string::npos ? "" : text.substr(equals + 1);
  double number = 0;
  const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (name.empty() || code != std::errc() || end != value.data() + value.size() || !std::isfinite(number))
    return Fail(ErrorCode::kUsage, StrCat("--metric requires NAME=NUMBER, not '", Printable(text), "'"), "",
                "--metric samples_per_second=812.5");
  std::erase_if(record.metrics, [&](const MetricRecord& metric) { return metric.name == name; });
  record.metrics.push_back({.name = name, .value = number, .unit = {}, .higher_is_better = {}, .samples = {}});
  return {};
}

// Takes commit, branch and state from the options, else from the file, else from the working folder. Git's branch and
// state belong to git's commit: they are left out if another commit is recorded.
void TakeGit(const HistoryOptions& options, BenchmarkRecord& record) {
  if (options.commit) {
    record.commit_sha = *options.commit;
    record.dirty.reset();
    record.author_unix_ns.reset();
    record.branch.clear();
  }
  const auto git = DescribeGit(".");
  // A commit may be given by the first seven digits of its hash or more.
  const bool same = git && !git->commit.empty() &&
                    (record.commit_sha.empty() || git->commit == record.commit_sha ||
                     (record.commit_sha.size() >= 7 && git->commit.starts_with(record.commit_sha)));
  if (same) {
    record.commit_sha = git->commit;
    if (record.branch.empty()) record.branch = git->branch;
    if (!record.dirty) record.dirty = git->dirty;
    if (!record.author_unix_ns) record.author_unix_ns = git->author_unix_ns;
  }
  if (options.branch) record.branch = *options.branch;
}

// Returns the facts of this machine as the JSON text that the record's `environment` holds.
std::string HostAsJson(const HostFacts& host) {
  std::string out;
  JsonWriter json(out);
  WriteJson(json, documents::RecordedPlace{{host.name, host.kernel, host.cpu, host.cores, host.memory_bytes}});
  return out;
}

// Fills in what the file does not say from this machine (--here). It is not done unasked: a file may come from
// elsewhere.
void TakeMachine(BenchmarkRecord& record) {
  const HostFacts host = DescribeHost();
  if (record.host.empty()) record.host = host.name;
  if (record.driver.empty()) record.driver = host.nvidia_driver;
  if (record.gpu_type.empty() && !host.gpus.empty()) record.gpu_type = host.gpus[0].model;
  if (!record.num_gpus && !host.gpus.empty()) record.num_gpus = static_cast<int64_t>(host.gpus.size());
  if (record.environment.empty()) record.environment = HostAsJson(host);
  if (record.fingerprint.empty()) record.fingerprint = FingerprintOf(host);
}

// Says what was recorded of which commit, so that a wrong working folder is noticed.
std::string AsText(const BenchmarkRecord& record, const Recorded& recorded, const History& history) {
  const std::string what = record.metrics.size() == 1 ? "1 metric" : StrCat(record.metrics.size(), " metrics");
  std::string of;
  if (!record.commit_sha.empty()) of = StrCat(" of ", Printable(record.commit_sha.substr(0, kShownCommit)));
  if (!record.branch.empty()) of += StrCat(" on ", Printable(record.branch));
  if (record.dirty.value_or(false)) of += ", with changes that are not committed";
  return StrCat("recorded ", what, of, " as run ", recorded.id, " in ", Printable(history.place()), "\n");
}

std::string AsJson(const BenchmarkRecord& record, const Recorded& recorded, const History& history,
                   const std::vector<std::string>& left_out, const ResultFile* file) {
  documents::HistoryRecorded document{.history = std::string(history.place()),
                                      .id = recorded.id,
                                      .uid = record.uid,
                                      .commit_sha = record.commit_sha,
                                      .branch = record.branch,
                                      .dirty = record.dirty,
                                      .benchmark = record.benchmark,
                                      .source = record.source};
  for (const MetricRecord& metric : record.metrics) document.metrics.emplace_back(metric.name, metric.value);
  if (file != nullptr)
    for (const ResultSeries& series : file->series)
      if (!series.formula.empty()) document.formulas.push_back({series.name, series.formula, series.own_name});
  return DocumentOf("history", document, left_out);
}

}  // namespace

constinit const TypeInfo kHistoryAcceptDocument = describe::MakeType<documents::HistoryAccepted>();
constinit const TypeInfo kHistoryRecordDocument = describe::MakeType<documents::HistoryRecorded>();

void TakeGiven(const HistoryOptions& options, BenchmarkRecord& record) {
  if (options.label) record.benchmark = *options.label;
  TakeGit(options, record);
}

namespace {

void AddNumber(std::string_view name, double value, std::string_view unit, bool higher_is_better,
               BenchmarkRecord& record) {
  record.metrics.push_back({.name = std::string(name),
                            .value = value,
                            .unit = std::string(unit),
                            .higher_is_better = higher_is_better,
                            .samples = {}});
}

// Reads a recording into a record: its mean step, its utilisation, and the ledger of its step.
Result<BenchmarkRecord> RecordOfRecording(const std::string& path, const Session& session) {
  ReadArguments arguments;
  arguments.paths = {path};
  GAPLESS_ASSIGN(const auto analysis, AnalysisFor(arguments, session, arguments.paths));
  GAPLESS_ASSIGN(const auto ledger, StepLedgerOf(analysis->tables()));
  const RunSummary summary = Summarise(analysis->tables(), analysis->diagnosis());
  BenchmarkRecord record;
  record.source = "gapless recording", record.ledger = StoredLedger(ledger);
  if (ledger.steps > 0)
    AddNumber("step_time_ms", static_cast<double>(ledger.wall_ns) / static_cast<double>(ledger.steps) / 1e6, "ms",
              false, record);
  if (summary.gpu_utilization) AddNumber("gpu_utilization", *summary.gpu_utilization, "%", true, record);
  record.gpu_type = ledger.device_name;
  if (ledger.on_device) record.num_gpus = ledger.devices;
  return record;
}

}  // namespace

// Metrics of --metric are added to those of the file; without either there is nothing to record.
Result<BenchmarkRecord> RecordOf(const HistoryOptions& options, const ResultFile* file) {
  BenchmarkRecord record;
  if (file != nullptr) {
    GAPLESS_ASSIGN(record, RecordFrom(*file));
  }
  return FinishRecord(options, std::move(record));
}

Result<BenchmarkRecord> FinishRecord(const HistoryOptions& options, BenchmarkRecord record) {
  for (const std::string& metric : options.metric) GAPLESS_TRY(AddMetric(metric, record));
  if (record.metrics.empty())
    return Fail(ErrorCode::kUsage, "nothing to record: no file and no --metric", "",
                "name a file of results, or give --metric NAME=NUMBER");
  TakeGiven(options, record);
  if (options.here) TakeMachine(record);
  record.uid = NewUid();
  return record;
}

// Reads and checks everything before the history is opened. What failed is left out, and said. A file that is no result
// may be a recording, whose ledger is kept.
Result<int> HistoryRecord(const HistoryArguments& arguments, const Session& session) {
  std::optional<ResultFile> file;
  std::optional<BenchmarkRecord> recording;
  if (!arguments.file.empty()) {
    std::error_code ignored;
    const bool is_folder = std::filesystem::is_directory(arguments.file, ignored);
    auto read = is_folder ? Fail(ErrorCode::kInput, "a folder") : ReadResultFile(arguments.file, arguments.column);
    if (read) {
      file.emplace(std::move(*read));
    } else if (auto of_recording = RecordOfRecording(arguments.file, session)) {
      recording = std::move(*of_recording);
    } else {
      return Unexpected{is_folder ? of_recording.error() : read.error()};
    }
  }
  GAPLESS_ASSIGN(const auto record, recording ? FinishRecord(arguments, std::move(*recording))
                                              : RecordOf(arguments, file ? &*file : nullptr));
  GAPLESS_ASSIGN(auto history, History::Open(arguments.db));
  GAPLESS_ASSIGN(const auto recorded, history.Record(record));
  std::vector<std::string> left_out;
  if (file && !file->failed.empty()) left_out.push_back(StrCat("not recorded: ", DescribeAllFailed(*file)));
  return PrintTextOrJson(
      arguments, [&] { return StrCat(AsText(record, recorded, history), left_out.empty() ? "" : left_out[0] + "\n"); },
      [&] { return AsJson(record, recorded, history, left_out, file ? &*file : nullptr); });
}

// Adds the verdict "accepted", by which the gate's baseline begins anew at this run.
Result<int> HistoryAccept(const HistoryArguments& arguments, const Session&) {
  const std::string& run = arguments.file;
  int64_t id = 0;
  const auto [end, code] = std::from_chars(run.data(), run.data() + run.size(), id);
  if (run.empty() || code != std::errc() || end != run.data() + run.size())
    return Fail(ErrorCode::kUsage, "cannot accept a run: this is not a number of a run", Printable(run),
                "gapless history list");
  GAPLESS_ASSIGN(auto history, History::OpenToChange(arguments.db));
  GAPLESS_TRY(history.AddVerdict(id, {.recorded_unix_ns = 0, .metric = {}, .kind = "accepted", .detail = "{}"}));
  return PrintTextOrJson(
      arguments, [&] { return StrCat("from run ", id, " on is the baseline\n"); },
      [&] { return DocumentOf("history", documents::HistoryAccepted{id}); });
}

}  // namespace gapless::internal
