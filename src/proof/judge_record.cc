// SPDX-License-Identifier: Apache-2.0
// Judges a result against the history: selects the metrics and the comparable runs, asks validate/history_gate.h,
// and confirms an alarm by fresh runs.
//
// Runs on other kinds of machines are left out and counted. The error rate is shared over the judged metrics. At
// most 2000 runs are read. Fresh runs are made only after an alarm, three at most, and serve all metrics.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/strings.h"
#include "proof/judgement.h"
#include "proof/trend_runs.h"
#include "store/metric_traits.h"

namespace gapless::internal {
namespace {

constexpr int64_t kMaxHistory = 2000;
constexpr int kFreshRuns = 3;

bool IsHigherBetter(const MetricRecord& metric) {
  return metric.higher_is_better.value_or(TraitsOf(metric.name).higher_is_better.value_or(false));
}

// Returns the requested metrics, else samples_per_second, else step_time_p50_ms, else the first.
Result<std::vector<MetricRecord>> MetricsToJudge(const BenchmarkRecord& current, const HistoryQuestion& question) {
  std::vector<MetricRecord> metrics;
  for (const std::string& name : question.metrics) {
    const MetricRecord* found = current.Find(name);
    if (found == nullptr) return Fail(ErrorCode::kInput, "the result has no such metric", name);
    metrics.push_back(*found);
  }
  for (const std::string_view name : {"samples_per_second", "step_time_p50_ms"})
    if (const MetricRecord* found = current.Find(name); metrics.empty() && found != nullptr) metrics.push_back(*found);
  if (metrics.empty() && !current.metrics.empty()) metrics.push_back(current.metrics[0]);
  if (metrics.empty()) return Fail(ErrorCode::kInput, "the result has no metric");
  return metrics;
}

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

struct Past {
  std::vector<BenchmarkRecord> records{};  // oldest first
  size_t other_machines = 0;
};

// Returns the branch's runs of the same benchmark on machines of the same kind, oldest first.
Result<Past> ReadPast(const BenchmarkRecord& current, History& history, const std::string& branch) {
  HistoryFilter filter{.branch = branch, .limit = kMaxHistory, .with_samples = false};
  if (!current.benchmark.empty()) filter.benchmark = current.benchmark;
  auto records = history.List(filter);
  if (!records) return Unexpected{records.error()};
  Past past;
  for (BenchmarkRecord& record : *records) {
    if (IsSameMachine(record, current))
      past.records.push_back(std::move(record));
    else
      ++past.other_machines;
  }
  return past;
}

struct Runs {
  std::vector<GateRun> values{};
  std::vector<std::string> commits{};  // commits of each run
};

// The runs of one metric; a last one that is the current result itself is left out.
Runs RunsOf(const Past& past, const BenchmarkRecord& current, const MetricRecord& metric) {
  Runs runs;
  const int64_t accepted = LastAccepted(past.records, metric.name);
  for (const BenchmarkRecord& record : past.records) {
    const MetricRecord* found = record.Find(metric.name);
    const bool itself = &record == &past.records.back() && !current.commit_sha.empty() && found != nullptr &&
                        record.commit_sha == current.commit_sha && found->value == metric.value;
    if (found == nullptr || itself) continue;
    runs.values.push_back({.value = found->value, .mark = MarkOf(record, metric.name, accepted)});
    runs.commits.push_back(record.commit_sha);
  }
  return runs;
}

// Fresh runs, made once for all metrics when the first alarm asks for them.
class FreshRuns {
 public:
  FreshRuns(const std::function<Result<BenchmarkRecord>()>& measure, double effect)
      : measure_(measure), effect_(effect) {}

  Result<GateVerdict> Confirm(const GateVerdict& verdict, const std::string& metric) {
    if (!verdict.IsAlarm() || !measure_) return verdict;
    while (records_.size() < kFreshRuns) {
      auto record = measure_();
      if (!record) return Unexpected{record.error()};
      records_.push_back(std::move(*record));
    }
    std::vector<double> values;
    for (const BenchmarkRecord& record : records_)
      if (const MetricRecord* found = record.Find(metric); found != nullptr) values.push_back(found->value);
    return GateConfirm(verdict, values, effect_);
  }

 private:
  const std::function<Result<BenchmarkRecord>()>& measure_;
  double effect_;
  std::vector<BenchmarkRecord> records_{};
};

// Returns the mark that the history keeps of a verdict; empty: no mark.
std::string_view MarkFor(const GateVerdict& before, const GateVerdict& after) {
  if (before.IsAlarm() && !after.IsAlarm()) return "cleared";
  if (after.kind != GateKind::kRegression) return "";
  return after.confirmed ? "confirmed" : "pending";
}

MetricJudgement JudgementOf(const MetricRecord& metric, const GateVerdict& verdict, bool higher_is_better) {
  return {.metric = metric.name,
          .unit = metric.unit,
          .higher_is_better = higher_is_better,
          .kind = verdict.kind,
          .confirmed = verdict.confirmed,
          .reason = std::string(verdict.reason),
          .current = metric.value,
          .baseline = verdict.level,
          .change = verdict.change,
          .change_low = {},
          .change_high = {},
          .noise = verdict.noise,
          .mde = verdict.mde,
          .runs = verdict.baseline_runs};
}

// The commit of the first run of the window that the verdict is from.
std::string CulpritOf(const GateVerdict& verdict, const Runs& runs, const BenchmarkRecord& current) {
  const size_t count = runs.commits.size();
  const bool earlier = verdict.window_runs > 1 && count + 1 >= verdict.window_runs;
  return earlier ? runs.commits[count + 1 - verdict.window_runs] : current.commit_sha;
}

}  // namespace

Result<Judgement> JudgeRecord(const BenchmarkRecord& current, History& history, const HistoryQuestion& question) {
  const auto past = ReadPast(current, history, question.branch);
  if (!past) return Unexpected{past.error()};
  const auto metrics = MetricsToJudge(current, question);
  if (!metrics) return Unexpected{metrics.error()};
  Judgement judgement;
  judgement.threshold = question.effect;
  judgement.judged = question.naive
                         ? StrCat("judged by the bare rule: more than ", FormatPercent(question.effect),
                                  " worse than the mean of the last ten is a regression")
                         : StrCat("judged is the level of the newest runs: more than ", FormatPercent(question.effect),
                                  " worse than the baseline, and beyond what the noise explains, is a regression");
  judgement.against =
      StrCat("the ", past->records.size(), " runs of ", Printable(question.branch), " in ", Printable(history.place()));
  if (past->other_machines > 0)
    judgement.notes.push_back(StrCat(past->other_machines, " runs on other machines are left out"));
  GateOptions options{.effect = question.effect};
  if (!question.naive) judgement.false_alarm_rate = options.false_alarm_rate;
  if (!question.naive) judgement.false_alarm_over = StrCat(options.horizon_runs, " runs without a change");
  options.false_alarm_rate /= static_cast<double>(metrics->size());  // rate of all metrics together (Bonferroni)
  FreshRuns fresh(question.measure_again, question.effect);
  // Each metric is judged alone, at its part of the error rate.
  for (const MetricRecord& metric : *metrics) {
    options.higher_is_better = IsHigherBetter(metric);
    const Runs runs = RunsOf(*past, current, metric);
    const auto verdict = question.naive ? NaiveGate(runs.values, metric.value, options)
                                        : JudgeAgainstHistory(runs.values, metric.value, options);
    if (!verdict) return Unexpected{verdict.error()};
    const auto final = question.naive ? verdict : fresh.Confirm(*verdict, metric.name);
    if (!final) return Unexpected{final.error()};
    if (const std::string_view mark = MarkFor(*verdict, *final); !mark.empty())
      judgement.verdicts.push_back(
          {.recorded_unix_ns = 0, .metric = metric.name, .kind = std::string(mark), .detail = "{}"});
    if (final->kind == GateKind::kRegression && judgement.culprit.empty())
      judgement.culprit = CulpritOf(*final, runs, current);
    judgement.metrics.push_back(JudgementOf(metric, *final, options.higher_is_better));
  }
  return judgement;
}

}  // namespace gapless::internal
