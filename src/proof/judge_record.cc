// SPDX-License-Identifier: Apache-2.0
// Judges a result against the history: selects the metrics and the comparable runs, asks validate/history_gate.h,
// and confirms an alarm by fresh runs.
//
// The error rate is shared over the judged metrics. Fresh runs are made only after an alarm: three, and up to six while
// too few agree. They serve all metrics.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "proof/judge_words.h"
#include "proof/judged_runs.h"
#include "proof/judgement.h"
#include "store/metric_traits.h"

namespace gapless::internal {
namespace {

constexpr size_t kFreshRuns = 3, kMostFreshRuns = 6;

constexpr std::string_view kUsualMetrics[] = {"samples_per_second", "step_time_p50_ms"};

bool IsUsual(std::string_view metric) { return std::ranges::find(kUsualMetrics, metric) != std::end(kUsualMetrics); }

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
  for (const std::string_view name : kUsualMetrics)
    if (const MetricRecord* found = current.Find(name); metrics.empty() && found != nullptr) metrics.push_back(*found);
  if (metrics.empty() && !current.metrics.empty()) metrics.push_back(current.metrics[0]);
  if (metrics.empty()) return Fail(ErrorCode::kInput, "the result has no metric");
  return metrics;
}

// Fresh runs, made once for all metrics when the first alarm asks for them.
class FreshRuns {
 public:
  explicit FreshRuns(const HistoryQuestion& question) : measure_(question.measure_again), records_(question.fresh) {}

  // Judges with as many fresh runs as it takes.
  Result<GateVerdict> Judge(const JudgedRuns& runs, const MetricRecord& metric, const GateOptions& options) {
    auto verdict = JudgeAgainstHistory(runs.values, metric.value, options);
    for (size_t count = kFreshRuns; verdict && verdict->pending && count <= kMostFreshRuns; ++count) {
      while (records_.size() < count && measure_) {
        GAPLESS_ASSIGN(auto record, measure_());
        records_.push_back(std::move(record));
      }
      if (records_.size() < count) break;
      verdict = JudgeAgainstHistory(runs.values, metric.value, options, Values(metric.name, count));
    }
    return verdict;
  }

 private:
  std::vector<double> Values(const std::string& metric, size_t count) const {
    std::vector<double> values;
    for (size_t i = 0; i < count; ++i)
      if (const MetricRecord* found = records_[i].Find(metric); found != nullptr) values.push_back(found->value);
    return values;
  }

  const std::function<Result<BenchmarkRecord>()>& measure_;
  std::vector<BenchmarkRecord> records_;
};

// Returns the mark that the history keeps of a verdict; empty: no mark.
std::string_view MarkFor(const GateVerdict& verdict) {
  if (verdict.kind == GateKind::kRegression) return "confirmed";
  if (verdict.pending == GateKind::kRegression) return "pending";
  return verdict.cleared ? "cleared" : "";
}

MetricJudgement JudgementOf(const MetricRecord& metric, const GateVerdict& verdict, bool higher_is_better) {
  return {.metric = metric.name,
          .unit = metric.unit,
          .higher_is_better = higher_is_better,
          .kind = verdict.kind,
          .pending = verdict.pending,
          .more_runs = verdict.more_runs,
          .confirmed = verdict.confirmed,
          .reason = ReasonOf(verdict),
          .current = metric.value,
          .baseline = verdict.level,
          .change = verdict.change,
          .change_low = {},
          .change_high = {},
          .noise = verdict.noise,
          .mde = verdict.mde,
          .runs = verdict.baseline_runs,
          .runs_to_alarm = verdict.runs_to_alarm,
          .noise_kind = verdict.level ? std::optional(verdict.look) : std::nullopt,
          .false_alarms = verdict.false_alarms};
}

// The commit of the first run of the window that the verdict is from.
std::string CulpritOf(const GateVerdict& verdict, const JudgedRuns& runs, const BenchmarkRecord& current) {
  return verdict.window_first < runs.commits.size() ? runs.commits[verdict.window_first] : current.commit_sha;
}

// Judges a metric and adds what is said of it.
Result<void> JudgeMetric(const MetricRecord& metric, const JudgedRuns& runs, const BenchmarkRecord& current,
                         GateOptions options, bool naive, FreshRuns& fresh, Judgement& judgement) {
  options.higher_is_better = IsHigherBetter(metric);
  options.machine = runs.machine;
  GAPLESS_ASSIGN(const auto verdict,
                 naive ? NaiveGate(runs.values, metric.value, options) : fresh.Judge(runs, metric, options));
  if (const std::string_view mark = MarkFor(verdict); !mark.empty())
    judgement.verdicts.push_back(
        {.recorded_unix_ns = 0, .metric = metric.name, .kind = std::string(mark), .detail = "{}"});
  // One run, or runs on one machine alone, name no culprit.
  if (verdict.kind == GateKind::kRegression && !naive && judgement.culprit.empty())
    judgement.culprit = CulpritOf(verdict, runs, current);
  if (!naive)
    for (std::string& note : MachineNotes(verdict))
      if (std::ranges::find(judgement.notes, note) == judgement.notes.end()) judgement.notes.push_back(std::move(note));
  judgement.metrics.push_back(JudgementOf(metric, verdict, options.higher_is_better));
  if (naive) judgement.metrics.back().noise_kind.reset();
  return {};
}

}  // namespace

Result<Judgement> JudgeRecord(const BenchmarkRecord& current, History& history, const HistoryQuestion& question) {
  GAPLESS_ASSIGN(auto past, ReadPast(current, history, question.branch));
  const auto of_commit =
      std::ranges::count_if(past, [&](const BenchmarkRecord& record) { return record.branch != question.branch; });
  auto judgement = JudgeRecord(current, std::move(past),
                               StrCat(Printable(question.branch), " in ", Printable(history.place())), question);
  if (judgement && of_commit > 0)
    judgement->notes.push_back(StrCat(of_commit, " of them of this commit on another branch"));
  return judgement;
}

Result<Judgement> JudgeRecord(const BenchmarkRecord& current, std::vector<BenchmarkRecord> records,
                              std::string_view place, const HistoryQuestion& question) {
  const Past past = Comparable(current, std::move(records));
  GAPLESS_ASSIGN(const auto metrics, MetricsToJudge(current, question));
  GateOptions options{.effect = question.effect};
  Judgement judgement = Asked(question, past, place);
  if (question.metrics.empty() && current.metrics.size() > 1 && !IsUsual(metrics.front().name))
    judgement.notes.push_back(
        StrCat("of ", current.metrics.size(), " metrics one is judged; --gate NAME,… judges others"));
  options.false_alarm_rate /= static_cast<double>(metrics.size());  // rate of all metrics together (Bonferroni)
  FreshRuns fresh(question);
  for (const MetricRecord& metric : metrics)
    GAPLESS_TRY(JudgeMetric(metric, RunsOf(past, current, metric, !question.is_new), current, options, question.naive,
                            fresh, judgement));
  if (!question.naive) StateFalseAlarms(judgement);
  return judgement;
}

}  // namespace gapless::internal
