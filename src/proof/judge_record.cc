// SPDX-License-Identifier: Apache-2.0
// Judges a result against the history: selects the metrics and the comparable runs, asks validate/history_gate.h,
// and confirms an alarm by fresh runs.
//
// The error rate is shared over the judged metrics. Fresh runs are made only after an alarm: three, and up to six while
// too few agree. They serve all metrics.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "proof/judged_runs.h"
#include "proof/judgement.h"
#include "store/metric_traits.h"

namespace gapless::internal {
namespace {

// The figure that is stated is the one that was simulated for the kind of noise that the history has
// (validate/noise_look.h). Of several metrics it is the sum, which their common rate cannot exceed (Bonferroni).

std::string_view WordsFor(NoiseLook look) {
  switch (look) {
    case NoiseLook::kQuiet: return "no spikes, drift or machines in turns are seen";
    case NoiseLook::kDrift: return "a drift, or runs that follow the one before";
    case NoiseLook::kSpikes: return "spikes";
    case NoiseLook::kTwoMachines: return "two machines in turns";
    case NoiseLook::kHeavyTail: return "single runs far off";
  }
  return "";
}

// The judgement before any metric: what is asked, of which runs.
Judgement Asked(const HistoryQuestion& question, const Past& past, std::string_view place) {
  Judgement judgement;
  judgement.threshold = question.effect;
  judgement.against = StrCat("the ", past.records.size(), " runs of ", place);
  if (past.other_machines > 0)
    judgement.notes.push_back(StrCat(past.other_machines, " runs on other machines are left out"));
  judgement.judged =
      question.naive
          ? StrCat("judged by the bare rule: more than ", FormatPercent(question.effect),
                   " worse than the mean of the last ten is a regression")
          : StrCat("judged is the level of the newest runs: a regression is more than ", FormatPercent(question.effect),
                   " worse than the baseline, in several runs that agree beyond what its noise explains");
  return judgement;
}

// Says why there is no verdict. Of a pending alarm also what would settle it.
std::string ReasonOf(const GateVerdict& verdict) {
  if (!verdict.pending) return std::string(verdict.reason);
  const bool worse = verdict.pending == GateKind::kRegression;
  const std::string more =
      verdict.more_runs ? StrCat("; ", *verdict.more_runs, " more like it ", *verdict.more_runs == 1 ? "makes" : "make",
                                 " it ", worse ? "a regression" : "an improvement")
                        : "";
  return StrCat(worse ? "an alarm is pending: " : "it looks better: ", verdict.reason, " to tell it from a ",
                worse ? "slow" : "fast", " machine or moment", more);
}

// Says how machines were told apart, and what cannot be seen between them; empty if there is nothing to say.
std::vector<std::string> MachineNotes(const GateVerdict& verdict) {
  std::vector<std::string> notes;
  if (verdict.confirmed)
    notes.push_back(StrCat("the fresh runs are of this machine at this time; they count because of ",
                           verdict.baseline_runs, " past runs none was as slow"));
  if (verdict.machines == MachineUse::kByName && verdict.left_out > 0)
    notes.push_back(StrCat(verdict.left_out, " runs of machines with fewer than five runs are left out"));
  if (verdict.look != NoiseLook::kTwoMachines || !verdict.level) return notes;
  const std::string unseen = verdict.seen_within ? StrCat("a slowdown below ", FormatPercent(*verdict.seen_within),
                                                          " is mostly not seen by run 12")
                                                 : "no slowdown is surely seen by run 12";
  notes.push_back(
      StrCat("two machines seem to take turns: ", unseen, "; record on one machine, or name the host of each run"));
  return notes;
}

// Fills in how often the judgement raises a false alarm, from the figures of its metrics.
void StateFalseAlarms(Judgement& judgement) {
  double sum = 0;
  for (const MetricJudgement& metric : judgement.metrics) {
    if (!metric.false_alarms) {
      judgement.notes.emplace_back("how often this raises a false alarm was simulated for thresholds of 5 % and more");
      return;
    }
    sum += *metric.false_alarms;
  }
  if (judgement.metrics.empty()) return;
  const MetricJudgement& first = judgement.metrics.front();
  judgement.false_alarm_rate = std::min(1.0, sum);
  judgement.false_alarm_over = first.noise_kind
                                   ? StrCat("100 runs without a change, as simulated for noise like that of these ",
                                            first.runs, " runs: ", WordsFor(*first.noise_kind))
                                   : "100 runs without a change, as simulated for the worst kind of noise";
}

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
