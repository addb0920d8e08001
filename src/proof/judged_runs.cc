// SPDX-License-Identifier: Apache-2.0
// Runs on other kinds of machines are left out and counted. Of a kind there may be several machines, which differ, too:
// their names become numbers for the gate.
#include "proof/judged_runs.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "proof/trend_runs.h"

namespace gapless::internal {
namespace {

constexpr int64_t kMaxHistory = 2000;

// Returns when a run was last accepted as the level from there on; alarms from before that are of the old level.
// Returns the smallest time if none was.
int64_t LastAccepted(const std::vector<BenchmarkRecord>& records, const std::string& metric) {
  int64_t last = std::numeric_limits<int64_t>::min();
  for (const BenchmarkRecord& record : records)
    for (const VerdictRecord& verdict : record.verdicts)
      if (verdict.kind == "accepted" && (verdict.metric.empty() || verdict.metric == metric))
        last = std::max(last, verdict.recorded_unix_ns);
  return last;
}

// Returns the mark of a run for the metric; of several verdicts the last in the list decides.
GateMark MarkOf(const BenchmarkRecord& record, const std::string& metric, int64_t accepted_unix_ns) {
  GateMark mark = GateMark::kUnmarked;
  for (const VerdictRecord& verdict : record.verdicts) {
    if (verdict.metric != metric && !verdict.metric.empty()) continue;
    if (verdict.kind == "accepted") mark = GateMark::kAccepted;
    if (verdict.kind == "cleared") mark = GateMark::kCleared;
    if (verdict.recorded_unix_ns < accepted_unix_ns) continue;
    if (verdict.kind == "pending") mark = GateMark::kPending;
    if (verdict.kind == "confirmed") mark = GateMark::kConfirmed;
  }
  return mark;
}

// Adds the runs of the current commit that other branches have: a pull request is measured on its own.
Result<void> AddRunsOfCommit(const BenchmarkRecord& current, History& history, const HistoryFilter& of_branch,
                             std::vector<BenchmarkRecord>& records) {
  if (current.commit_sha.empty()) return {};
  HistoryFilter filter = of_branch;
  filter.branch.reset();
  filter.commit_sha = current.commit_sha;
  GAPLESS_ASSIGN(auto same, history.List(filter));
  for (BenchmarkRecord& record : same) {
    if (record.branch == of_branch.branch) continue;
    record.verdicts.push_back(
        {.recorded_unix_ns = std::numeric_limits<int64_t>::max(), .metric = {}, .kind = "pending", .detail = "{}"});
    records.push_back(std::move(record));
  }
  return {};
}

// Numbers the names of machines from 1 on; no name has the number 0.
class MachineNumbers {
 public:
  uint32_t Of(const std::string& host) {
    if (host.empty()) return 0;
    return numbers_.try_emplace(host, static_cast<uint32_t>(numbers_.size() + 1)).first->second;
  }

 private:
  std::map<std::string, uint32_t> numbers_{};
};

}  // namespace

Past Comparable(const BenchmarkRecord& current, std::vector<BenchmarkRecord> records) {
  Past past;
  for (BenchmarkRecord& record : records) {
    if (IsSameMachine(record, current))
      past.records.push_back(std::move(record));
    else
      ++past.other_machines;
  }
  return past;
}

Result<std::vector<BenchmarkRecord>> ReadPast(const BenchmarkRecord& current, History& history,
                                              const std::string& branch) {
  HistoryFilter filter{.branch = branch, .limit = kMaxHistory, .with_samples = false};
  if (!current.benchmark.empty()) filter.benchmark = current.benchmark;
  auto records = history.List(filter);
  if (records) GAPLESS_TRY(AddRunsOfCommit(current, history, filter, *records));
  return records;
}

JudgedRuns RunsOf(const Past& past, const BenchmarkRecord& current, const MetricRecord& metric, bool may_be_there) {
  JudgedRuns runs;
  MachineNumbers machines;
  const int64_t accepted = LastAccepted(past.records, metric.name);
  for (const BenchmarkRecord& record : past.records) {
    const MetricRecord* found = record.Find(metric.name);
    const bool itself = may_be_there && &record == &past.records.back() && !current.commit_sha.empty() &&
                        found != nullptr && record.commit_sha == current.commit_sha && found->value == metric.value;
    if (found == nullptr || itself) continue;
    runs.values.push_back(
        {.value = found->value, .mark = MarkOf(record, metric.name, accepted), .machine = machines.Of(record.host)});
    runs.commits.push_back(record.commit_sha);
  }
  runs.machine = machines.Of(current.host);
  return runs;
}

}  // namespace gapless::internal
