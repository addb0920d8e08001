// SPDX-License-Identifier: Apache-2.0
// The figure that is stated is the one that was simulated for the kind of noise that the history has
// (validate/gate_rates.h). Of several metrics it is the sum, which their common rate cannot exceed (Bonferroni).
#include "proof/judge_words.h"

#include <algorithm>

#include "base/strings.h"

namespace gapless::internal {
namespace {

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

}  // namespace

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

}  // namespace gapless::internal
