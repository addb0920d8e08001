// SPDX-License-Identifier: Apache-2.0
// Implements the checks of a trial: effect, first run, training, results and memory, with the sentence for each
// rejection.
//
// The checks come in the order of their cost: the first run shows faults, a fix without effect, lost losses, too
// little free memory and a clear slowdown, before any pair is run. "Clearly slower" is 1.15 times beyond what runs
// of the unchanged command differ by, so a noisy program does not lose fixes by chance.
#include "optimize/judge.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "optimize/results.h"
#include "proof/kept_metric.h"

namespace gapless::internal {
namespace {

// A first run that takes so much longer, beyond what the command itself differs by from run to run, is not followed by
// others.
constexpr double kMuchSlower = 1.15;

// The longest step over the shortest, of runs that are the same.
double Spread(const std::vector<RunSample>& runs) {
  const auto [shortest, longest] = std::ranges::minmax_element(runs, {}, SteadyStepMs);
  return SteadyStepMs(*longest) / SteadyStepMs(*shortest);
}

std::string CountOfPairs(size_t pairs) { return StrCat(pairs, pairs == 1 ? " pair" : " pairs"); }

}  // namespace

// 1.15 times the spread of the baselines: runs that differ by 10 % among themselves raise the limit to 1.265.
double Judge::SlowFrom() const { return kMuchSlower * Spread(baselines_); }

bool Judge::PassesFirstRun(const RunSample& sample, const FixSet& set, const Stage& current, Decision& decision) const {
  for (const FixReport& report : sample.fixes)
    if (auto change = ParseChange(report.text, report.state); change && change->fix == decision.item.fix->name)
      decision.changes.push_back(std::move(*change));
  const auto refuse = [&](FixOutcome outcome, std::string reason) {
    decision.outcome = outcome;
    decision.reason = std::move(reason);
    return false;
  };
  if (FaultOf(sample) != Fault::kNone) return refuse(FixOutcome::kFault, DescribeFault(sample));
  const auto in_state = [&](ChangeState state) { return std::ranges::find(decision.changes, state, &Change::state); };
  const auto refused = in_state(ChangeState::kRefused);
  // A fix that works by variables of the environment has nothing to report from inside the process.
  const bool said = refused != decision.changes.end() || decision.item.fix->trial.environment == nullptr;
  if (in_state(ChangeState::kOn) == decision.changes.end() && said) {
    return refuse(FixOutcome::kDoesNotApply,
                  refused != decision.changes.end() ? refused->what : "it found nothing to change in this program");
  }
  if (!PassesResults(set, {&sample, 1}, decision)) return false;
  if (const std::string objection = MemoryObjection(sample, options_.memory_limit_bytes); !objection.empty())
    return refuse(FixOutcome::kFault, objection);
  if (const double ratio = TimeRatio(current, StageOf(sample)); ratio > kMuchSlower * Spread(baselines_))
    return refuse(FixOutcome::kSlower, StrCat("its first run took ", FormatNumber(ratio, 2), " times as long",
                                              set.Loosest() == Safety::kTraining && !current.samples_per_second
                                                  ? " for a step, and how many samples a step has is not known"
                                                  : ""));
  return true;
}

// Without a comparison, or without a verdict, the fix passes unless the user wants bit-equal losses: the classes
// of the catalogue then stand for it.
bool Judge::PassesTraining(const FixSet& set, Decision& decision) const {
  const Safety allowed = options_.exact ? Safety::kExact : set.Loosest();
  const bool unknown = !decision.training || decision.training->verdict == ParityVerdict::kCannotTell;
  if (unknown && !options_.exact) return true;
  if (decision.training && IsAllowed(*decision.training, allowed)) return true;
  decision.outcome = options_.inference ? FixOutcome::kOtherAnswers : FixOutcome::kOtherTraining;
  decision.reason = decision.training ? decision.training->reason : "it was not compared";
  if (decision.training && IsSameTraining(*decision.training))
    decision.reason += StrCat("; allowed is ", ToString(allowed));
  return false;
}

bool Judge::PassesResults(const FixSet& set, std::span<const RunSample> with, Decision& decision,
                          std::span<const RunSample> beside) const {
  const auto refuse = [&](std::string reason) {
    decision.outcome = options_.inference ? FixOutcome::kOtherAnswers : FixOutcome::kOtherTraining;
    decision.reason = std::move(reason);
    return false;
  };
  if (const auto step = FirstLostLoss(baselines_, with))
    return refuse(StrCat("the loss is not finite from step ", *step, " on"));
  if (!options_.has_metric) return true;
  const MetricRuns runs{.without = printed_, .with = with, .beside = beside};
  decision.metric = ChangeOfMetric(runs, set.Loosest() == Safety::kExact || options_.exact);
  const std::string against = MetricObjection(runs, decision.metric);
  return against.empty() || refuse(StrCat("the metric: ", against));
}

// Sets outcome and reason of a comparison. Faults come first, then significant results, then reasons why there are
// none. Accepted only if the lower bound of the speedup is above 1.
void Judge::Conclude(const Contest& contest, Decision& decision) const {
  decision.pairs = contest.sequence.size();
  if (decision.pairs > 0) decision.measured = contest.Speedup();
  decision.detectable = contest.sequence.DetectableShare();
  const auto say = [&](FixOutcome outcome, std::string reason) {
    decision.outcome = outcome;
    decision.reason = std::move(reason);
  };
  const SpeedVerdict verdict = contest.sequence.Verdict();
  if (contest.ending == Ending::kFault) return say(FixOutcome::kFault, contest.fault);
  const bool is_faster = contest.at_once || verdict == SpeedVerdict::kFaster;
  if (is_faster && decision.measured && decision.measured->low.value_or(0) > 1)
    return say(FixOutcome::kAccepted, "significantly faster");
  if (contest.busy)
    return say(FixOutcome::kNoTime,
               "the machine is busy: the command without it was not done in its time; start again "
               "when it is idle");
  const bool below = decision.measured && decision.measured->high && *decision.measured->high < 1;
  if (verdict == SpeedVerdict::kSlower || below) return say(FixOutcome::kSlower, "significantly slower");
  if (contest.ending == Ending::kNoTime)
    return say(FixOutcome::kNoTime, decision.pairs == 0
                                        ? std::string("no time was left to measure it: --budget gives more")
                                        : StrCat("not decided at 95 % by ", CountOfPairs(decision.pairs),
                                                 ", and its share of the budget is used: "
                                                 "--budget gives more"));
  if (verdict == SpeedVerdict::kEquivalent)
    return say(FixOutcome::kTooSmall,
               StrCat("too small to matter: within ", FormatPercent(options_.pairs.margin), " of before"));
  const auto ratios = contest.sequence.log_ratios();
  const bool always = !ratios.empty() && std::ranges::all_of(ratios, [](double ratio) { return ratio > 0; });
  const std::string pairs = CountOfPairs(decision.pairs);
  if (always) return say(FixOutcome::kTooSmall, StrCat("no gain shows: it was slower in all of ", pairs));
  const bool slower = decision.measured && decision.measured->expected < 1;
  say(FixOutcome::kTooSmall, StrCat(slower ? "no gain shows: it was slower on the whole" : "no significant gain shows",
                                    decision.detectable ? StrCat("; ", pairs, " can detect a change of ",
                                                                 FormatPercent(*decision.detectable), " or more here")
                                                        : StrCat(", in ", pairs)));
}

}  // namespace gapless::internal
