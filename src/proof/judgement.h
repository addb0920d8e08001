// SPDX-License-Identifier: Apache-2.0
// Judges a result against the history of a branch, or the working folder against a commit: is it slower?
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "proof/comparison.h"
#include "store/history.h"
#include "validate/history_gate.h"

namespace gapless::internal {

// One metric against its baseline. Shares are of the baseline; `change` above 0 is a larger value.
struct MetricJudgement {
  std::string metric, unit;
  bool higher_is_better = false;
  GateKind kind = GateKind::kCannotTell;
  std::optional<GateKind> pending{};  // the kind if further runs agree; until then the kind is kCannotTell
  std::optional<size_t> more_runs{};  // as many of them make it a verdict
  bool confirmed = false;             // fresh runs confirmed it
  std::string reason;                 // why it cannot tell
  double current = 0;
  std::optional<double> baseline, change, change_low, change_high, noise, mde;
  size_t runs = 0;                        // runs of the baseline, or pairs
  std::optional<size_t> runs_to_alarm{};  // runs worse by `mde` that make a regression
  std::optional<NoiseLook> noise_kind{};  // kind of noise that the baseline seems to have; absent: not judged by it
  std::optional<double> false_alarms{};   // simulated for that kind and as many runs (validate/noise_look.h)
};

struct Judgement {
  std::string against;                   // "the last 34 runs of main", "a1b2c3d4e5 Faster loader"
  std::vector<MetricJudgement> metrics;  // the first is the one that was named first
  double threshold = 0.05;
  std::string judged{};  // a sentence: the judged level, and the limit of a regression
  // Rate of the whole judgement: the sum of what was simulated for each metric. Absent for the bare rule, and for
  // thresholds that were not simulated.
  std::optional<double> false_alarm_rate;
  std::string false_alarm_over;  // "100 runs without a change, …"
  std::string culprit;           // commit the slower runs begin with; empty: not known
  std::string place;             // a file that stands for what was measured; empty: none is known
  std::string baseline_commit;   // that was run against; empty: none was
  std::vector<std::string> notes;
  bool interrupted = false;             // a signal ended the runs; the judgement is that of the pairs until then
  std::vector<VerdictRecord> verdicts;  // for the history, with the record that was judged

  bool IsRegression() const;
  // An alarm is pending: something looks like a regression, and too few runs agree yet.
  bool IsPending() const;
  GateKind Kind() const;  // a regression of any metric; else what the first metric says
};

// Returns the recommended next step, as one sentence.
std::string NextStepOf(const Judgement& judgement);
// Returns the change of performance as a share; negative is worse, whatever the metric's direction. Absent without a
// baseline.
std::optional<double> PerformanceChange(const MetricJudgement& metric);

struct HistoryQuestion {
  std::string branch = "main";
  std::vector<std::string> metrics{};  // empty: samples_per_second, else the median step, else the first there is
  double effect = 0.05;
  bool is_new = false;  // the result is not in the history yet; else its last run is left out if it has the same values
  bool naive = false;   // only compare with 1 − effect times the mean of the last ten runs
  std::vector<BenchmarkRecord> fresh{};  // runs of the same that were made beside it, to settle a pending alarm
  // Measures the same once more, for the same end, when these do not suffice; none: the alarm stays pending.
  std::function<Result<BenchmarkRecord>()> measure_again{};
};

// Against the branch's runs of the same benchmark on machines of the same kind. A result that looks like a regression
// is to be kept as "pending", one that is as "confirmed", so that the baseline does not learn from it; an alarm that
// fresh runs refuted as "cleared". Improvements are learned from. Runs of the same commit on other branches, such as
// those of a pull request, count as runs before the current one.
Result<Judgement> JudgeRecord(const BenchmarkRecord& current, History& history, const HistoryQuestion& question);
// The same against runs from elsewhere, oldest first; `place` is their name.
Result<Judgement> JudgeRecord(const BenchmarkRecord& current, std::vector<BenchmarkRecord> past, std::string_view place,
                              const HistoryQuestion& question);

struct CommitQuestion {
  std::string folder = ".";           // in the repository
  std::string against;                // any name that git knows
  std::string build{};                // for a shell, in a checkout of both commits; empty: what is in the folder is run
  std::vector<std::string> shared{};  // paths relative to the folder that checkouts link to
  RunRequest request{};
  double effect = 0.05;
  bool pattern_value = false;  // what is measured is a number of the output, not a time
  size_t most_pairs = 60;
  double budget_s = 1800;  // for all of it: checkouts, builds and runs
  uint64_t seed = 0;
  std::function<void(size_t done, const Comparison&)> on_run{};  // called before each run
};

// Runs pairs of processes until it is clear on which side of the effect the change lies, or `most_pairs` or the time
// are used up. Returns an error if a commit is not known, cannot be built, a run fails, or no pair was finished.
// Interrupted after that, it returns what is known until then, with `interrupted`.
Result<Judgement> JudgeCommit(const CommitQuestion& question);

}  // namespace gapless::internal
