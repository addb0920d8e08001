// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/json_writer.h"
#include "base/strings.h"
#include "cli/commands/history/actions.h"
#include "cli/output.h"
#include "collect/machine.h"
#include "proof/result_json.h"
#include "store/result_reader.h"

namespace gapless::internal {
namespace {

constexpr size_t kShownCommit = 12;  // characters

// NAME=VALUE: a metric of its own, or another value for one of the file's.
Result<void> AddMetric(const std::string& text, BenchmarkRecord& record) {
  const size_t equals = text.rfind('=');
  const std::string name = text.substr(0, equals), value = equals == std::string::npos ? "" : text.substr(equals + 1);
  double number = 0;
  const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (name.empty() || code != std::errc() || end != value.data() + value.size() || !std::isfinite(number))
    return Fail(ErrorCode::kUsage, StrCat("--metric wants NAME=NUMBER, not '", Printable(text), "'"), "",
                "--metric samples_per_second=812.5");
  std::erase_if(record.metrics, [&](const MetricRecord& metric) { return metric.name == name; });
  record.metrics.push_back({.name = name, .value = number, .unit = {}, .higher_is_better = {}, .samples = {}});
  return {};
}

// What was given wins over the file, the file over the working folder. Git's branch and state belong to its commit:
// they are left out when the commit is another one.
void TakeGit(const Arguments& arguments, BenchmarkRecord& record) {
  if (arguments.Has("commit")) {
    record.commit_sha = arguments.Value("commit");
    record.dirty.reset();
    record.author_unix_ns.reset();
    record.branch.clear();
  }
  const auto git = DescribeGit(".");
  const bool same = git && !git->commit.empty() &&
                    (record.commit_sha.empty() || git->commit == record.commit_sha ||
                     (record.commit_sha.size() >= 7 && git->commit.starts_with(record.commit_sha)));
  if (same) {
    record.commit_sha = git->commit;
    if (record.branch.empty()) record.branch = git->branch;
    if (!record.dirty) record.dirty = git->dirty;
    if (!record.author_unix_ns) record.author_unix_ns = git->author_unix_ns;
  }
  if (arguments.Has("branch")) record.branch = arguments.Value("branch");
}

std::string HostAsJson(const HostFacts& host) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Key("host");
  json.BeginObject();
  json.Field("name", host.name);
  json.Field("kernel", host.kernel);
  json.FieldUnlessEmpty("cpu", host.cpu);
  json.Field("cores", host.cores);
  if (host.memory_bytes > 0) json.Field("memory_bytes", host.memory_bytes);
  json.EndObject();
  json.EndObject();
  return out;
}

// --here: what the file does not say, this machine does.
void TakeMachine(BenchmarkRecord& record) {
  const HostFacts host = DescribeHost();
  if (record.host.empty()) record.host = host.name;
  if (record.driver.empty()) record.driver = host.nvidia_driver;
  if (record.gpu_type.empty() && !host.gpus.empty()) record.gpu_type = host.gpus[0].model;
  if (!record.num_gpus && !host.gpus.empty()) record.num_gpus = static_cast<int64_t>(host.gpus.size());
  if (record.environment.empty()) record.environment = HostAsJson(host);
  if (record.fingerprint.empty()) record.fingerprint = FingerprintOf(host);
}

std::string AsText(const BenchmarkRecord& record, const Recorded& recorded, const History& history) {
  const std::string what = record.metrics.size() == 1 ? "1 metric" : StrCat(record.metrics.size(), " metrics");
  std::string of;
  if (!record.commit_sha.empty()) of = StrCat(" of ", Printable(record.commit_sha.substr(0, kShownCommit)));
  if (!record.branch.empty()) of += StrCat(" on ", Printable(record.branch));
  if (record.dirty.value_or(false)) of += ", with changes that are not committed";
  return StrCat("recorded ", what, of, " as run ", recorded.id, " in ", Printable(history.place()), "\n");
}

std::string AsJson(const BenchmarkRecord& record, const Recorded& recorded, const History& history) {
  std::string out;
  JsonWriter json(out, 2);
  json.BeginObject();
  WriteJsonHeader(json);
  json.Field("history", history.place());
  json.Field("id", recorded.id);
  json.Field("uid", record.uid);
  json.FieldUnlessEmpty("commit_sha", record.commit_sha);
  json.FieldUnlessEmpty("branch", record.branch);
  json.Field("dirty", record.dirty);
  json.FieldUnlessEmpty("benchmark", record.benchmark);
  json.FieldUnlessEmpty("source", record.source);
  json.Key("metrics");
  json.BeginObject();
  for (const MetricRecord& metric : record.metrics) json.Field(metric.name, metric.value);
  json.EndObject();
  json.EndObject();
  return out + "\n";
}

}  // namespace

void TakeGiven(const Arguments& arguments, BenchmarkRecord& record) {
  if (arguments.Has("label")) record.benchmark = arguments.Value("label");
  TakeGit(arguments, record);
}

Result<BenchmarkRecord> RecordFromArguments(const Arguments& arguments, const std::string& file) {
  BenchmarkRecord record;
  if (!file.empty()) {
    const auto results = ReadResultFile(file, arguments.Value("column"));
    if (!results) return Unexpected{results.error()};
    auto read = RecordFrom(*results);
    if (!read) return Unexpected{read.error()};
    record = std::move(*read);
  }
  for (const std::string& metric : arguments.List("metric")) GAPLESS_TRY(AddMetric(metric, record));
  if (record.metrics.empty())
    return Fail(ErrorCode::kUsage, "there is nothing to record", "",
                "name a file of results, or give --metric NAME=NUMBER");
  TakeGiven(arguments, record);
  if (arguments.Has("here")) TakeMachine(record);
  record.uid = NewUid();
  return record;
}

Result<int> HistoryRecord(const Arguments& arguments, const std::string& file) {
  const auto record = RecordFromArguments(arguments, file);
  if (!record) return Unexpected{record.error()};
  auto history = History::Open(arguments.Value("db"));
  if (!history) return Unexpected{history.error()};
  const auto recorded = history->Record(*record);
  if (!recorded) return Unexpected{recorded.error()};
  return PrintTextOrJson(
      arguments, [&] { return AsText(*record, *recorded, *history); },
      [&] { return AsJson(*record, *recorded, *history); });
}

Result<int> HistoryAccept(const Arguments& arguments, const std::string& run) {
  int64_t id = 0;
  const auto [end, code] = std::from_chars(run.data(), run.data() + run.size(), id);
  if (run.empty() || code != std::errc() || end != run.data() + run.size())
    return Fail(ErrorCode::kUsage, "which run is accepted?", Printable(run),
                "gapless history list shows their numbers");
  auto history = History::Open(arguments.Value("db"));
  if (!history) return Unexpected{history.error()};
  GAPLESS_TRY(history->AddVerdict(id, {.recorded_unix_ns = 0, .metric = {}, .kind = "accepted", .detail = "{}"}));
  return PrintTextOrJson(
      arguments, [&] { return StrCat("from run ", id, " on is the baseline\n"); },
      [&] {
        std::string out;
        JsonWriter json(out, 2);
        json.BeginObject();
        WriteJsonHeader(json);
        json.Field("accepted", id);
        json.EndObject();
        return out + "\n";
      });
}

}  // namespace gapless::internal
