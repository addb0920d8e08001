// SPDX-License-Identifier: Apache-2.0
// One trial: is there time for it, does its first run do what it should, and what do its measurements say.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "optimize/planner_state.h"

namespace gapless::internal {

// Decides a candidate without running anything, if that is possible; returns true if it did. What does not apply
// comes before what is not allowed: the user should not be asked to allow something useless.
bool Trials::Refuse(const Candidate& candidate, Decision& decision) {
  const auto refuse = [&](FixOutcome outcome, std::string reason) {
    decision.outcome = outcome;
    decision.reason = std::move(reason);
    return true;
  };
  if (candidate.does_not_apply) return refuse(FixOutcome::kDoesNotApply, candidate.skip);
  const Safety promised = decision.item.Class();
  if (promised > plan_.options.allow)
    return refuse(FixOutcome::kNotAllowed,
                  StrCat("it changes more than is allowed (", ToString(promised), "): --allow ", ToString(promised)));
  if (const Fix* other = plan_.result.accepted.ConflictWith(*decision.item.fix))
    return refuse(FixOutcome::kConflict, StrCat("not together with ", other->name, ", which is on"));
  if (!candidate.skip.empty()) return refuse(FixOutcome::kNothingToGain, candidate.skip);
  return !HasTimeFor(candidate, decision);
}

// When a trial would be over, and when it has to be for the proof after it.
Trials::TrialTimes Trials::TimesOf(const Candidate& candidate) const {
  const Promise promise =
      PromiseOf(candidate, plan_.screened, plan_.time.current_s, plan_.result.accepted.empty(), plan_.slow_start_s);
  TrialTimes times{.promise = promise,
                   .needs_proof = candidate.item.fix->trial.live.between_steps || plan_.time.has_accepted};
  times.trial_s = std::max(promise.min_trial_s, 2 * plan_.time.current_s);
  times.ends = times.needs_proof ? plan_.time.ProofBegins(promise.later_run_s) : plan_.time.deadline();
  // A fix alone is proved by pairs of runs that it is tried with.
  const double alone_s =
      promise.later_run_s + PairsToProve(promise.expected) * (plan_.time.current_s + promise.later_run_s);
  const auto now = plan_.runner.Now();
  times.fits = now + Lasting(times.trial_s) <= times.ends ||
               (candidate.item.fix->trial.live.between_steps && !plan_.time.has_accepted &&
                now + Lasting(alone_s) <= plan_.time.deadline());
  return times;
}

// Runs that measure for a shorter time leave time for a candidate that would have none.
bool Trials::FitsInShorterRuns(const Candidate& candidate) {
  const TimeBudget time = plan_.time;
  const double measured_s = plan_.measured_s;
  while (plan_.measured_s > plan_.MinMeasuredS()) {
    plan_.ShortenRunsTo(plan_.measured_s / 2);
    if (!TimesOf(candidate).fits) continue;
    plan_.runner.MeasureFor(plan_.measured_s);
    return true;
  }
  plan_.time = time;
  plan_.measured_s = measured_s;
  return false;
}

// A trial without time for a verdict, or for the proof after it, is not begun: it could only be lost.
bool Trials::HasTimeFor(const Candidate& candidate, Decision& decision) {
  if (is_spending_) return true;
  const TrialTimes times = TimesOf(candidate);
  if (times.fits) return true;
  const bool is_wanted = times.promise.speedup >= kMinPromise && !plan_.result.accepted.Has(candidate.item.fix->name);
  if (is_wanted && FitsInShorterRuns(candidate)) return true;
  decision.outcome = FixOutcome::kNoTime;
  const auto words = [](double seconds) { return StrCat(FormatNumber(std::max(0.0, seconds), 0), " s"); };
  const auto now = plan_.runner.Now();
  const double left_s = Seconds(plan_.time.deadline() - now);
  decision.reason = left_s <= 0 ? "the budget was used up"
                                : StrCat("its trial takes about ", words(times.trial_s),
                                         times.needs_proof ? ", the proof of all together " : "",
                                         times.needs_proof ? words(left_s - Seconds(times.ends - now)) : "",
                                         times.needs_proof ? ", and " : " and only ", words(left_s),
                                         " of the budget are left: --budget gives more");
  if (is_wanted) {
    plan_.result.untried.push_back(
        {.item = decision.item, .promise = times.promise.expected, .needs_s = times.trial_s});
    left_out_.push_back(candidate);
  }
  return false;
}

// Measures the fix beside the accepted ones: in blocks if it can be switched, else in pairs of runs. A comparison
// whose time ran out is kept, to go on with later.
Result<void> Trials::Measure(const FixSet& set, Decision& decision) {
  std::string refusal = "it cannot be switched";
  std::optional<Contest> contest;
  if (decision.item.fix->trial.live.between_steps) {
    GAPLESS_ASSIGN(auto blocks, contests_.HoldBlocks(decision.item, decision.run_s, refusal));
    // Blocks need a proof by pairs of runs. Where no time is left for both, pairs alone prove a fix that is alone.
    const bool has_no_time = blocks.ending == Ending::kNoTime && blocks.sequence.size() == 0;
    if (refusal.empty() && !(has_no_time && plan_.result.accepted.empty())) contest = std::move(blocks);
  }
  decision.live = contest.has_value();
  if (!contest) {
    GAPLESS_ASSIGN(contest,
                   contests_.HoldPairs(plan_.result.accepted, set, &decision.item,
                                       plan_.time.ShareDeadline(plan_.runner.Now(), plan_.candidates - plan_.done)));
  }
  plan_.judge.Conclude(*contest, decision);
  if (decision.outcome == FixOutcome::kNoTime && decision.pairs > 0) {
    plan_.undecided.push_back({.decision = decision, .beside = plan_.result.accepted});
    if (!decision.live) plan_.undecided.back().contest = *contest;
  }
  if (contest->hung_s > 0) return contests_.CompareHang(contest->hung_s, decision);
  if (decision.outcome != FixOutcome::kAccepted) return {};
  if (!contest->b.empty()) {
    decision.stage = StageOf(contest->b);
    if (!contest->a.empty()) decision.before = StageOf(contest->a);
    decision.run_s = LongestSeconds(contest->b);
    plan_.judge.PassesResults(set, contest->b, decision, contest->a);
  }
  return {};
}

// The first steps of the run are recorded, as those of the baseline were: the recording of other fixes may take longer
// than any start does.
void Trials::TakeSlowStart(const RunSample& first, Decision& decision) {
  const auto start_s = [](double warmup_s, size_t warmup, double step_ms) {
    return warmup_s - static_cast<double>(warmup) * step_ms / 1e3;
  };
  decision.startup_s = start_s(static_cast<double>(first.warmup_ns) / 1e9, first.warmup, decision.stage->step_ms) -
                       start_s(plan_.startup_s, plan_.baselines[0].warmup, plan_.result.before.step_ms);
  plan_.slow_start_s = std::max(0.0, *decision.startup_s);
}

// `measure`: go on to the contest. A decision that passed its first run has a stage.
Result<Decision> Trials::Try(const Candidate& candidate, const FixItem& item, bool measure) {
  Decision decision{.item = item,
                    .predicted = candidate.predicted,
                    .alone = plan_.result.accepted.empty(),
                    .beside = plan_.result.accepted.ToString()};
  if (const Decision* known = plan_.keeper.Find(item, plan_.result.accepted)) return *known;
  if (Refuse(candidate, decision)) return decision;
  const auto begun = plan_.runner.Now();
  plan_.met_busy_machine = false;
  plan_.Tell({.kind = PlannerEvent::Kind::kTrying, .item = &item});
  const FixSet set = plan_.result.accepted.With(item);
  plan_.runner.CutAbove(
      set.Loosest() == Safety::kTraining ? 0 : kCutFactor * plan_.judge.SlowFrom() * plan_.current.step_ms);
  auto first = plan_.runner.RunFirst(set);
  plan_.runner.CutAbove(0);
  GAPLESS_TRY(first);
  decision.run_s = LongestSeconds({&*first, 1});
  const bool hung = FaultOf(*first) == Fault::kHang;
  if (hung && plan_.runner.Now() >= plan_.time.deadline()) {
    decision.reason = "the budget was over before its first run was";
    return decision;
  }
  GAPLESS_ASSIGN(auto passes, PassesFirstRun(*first, set, decision));
  if (passes) {
    decision.stage = StageOf(*first);
    if (item.fix->trial.choice.slow_start) TakeSlowStart(*first, decision);
    if (measure) GAPLESS_TRY(Measure(set, decision));
  } else if (hung) {
    GAPLESS_TRY(contests_.CompareHang(decision.run_s, decision));
  }
  decision.took_s = Seconds(plan_.runner.Now() - begun);
  return decision;
}

// Returns true if the fix applies, is fast enough to be measured, and keeps the training the same.
Result<bool> Trials::PassesFirstRun(const RunSample& first, const FixSet& set, Decision& decision) {
  bool passes = plan_.judge.PassesFirstRun(first, set, plan_.current, decision);
  if (!passes && decision.outcome == FixOutcome::kSlower) {
    GAPLESS_ASSIGN(const auto slow, contests_.IsSlowBeside(first, decision));
    passes = !slow;
  }
  if (!passes) return false;
  GAPLESS_ASSIGN(decision.training, plan_.runner.Training(set, plan_.options.exact));
  return plan_.judge.PassesTraining(set, decision);
}

// Takes the decision into the result. Returns true if its fix is on now.
bool Trials::Settle(Decision decision) {
  const FixItem item = decision.item;
  if (decision.outcome != FixOutcome::kNoTime) plan_.keeper.Add(decision, plan_.result.accepted);
  if (decision.outcome == FixOutcome::kAccepted) {
    if (plan_.result.accepted.Has(item.fix->name))  // a better value takes the place of the one before
      for (Decision& before : plan_.result.decisions)
        if (before.item.fix == item.fix && before.outcome == FixOutcome::kAccepted) {
          before.outcome = FixOutcome::kTakenOut;
          before.reason = StrCat(item.ToString(), " is better still");
        }
    plan_.result.accepted = plan_.result.accepted.With(item);
    plan_.current = *decision.stage;
    plan_.time.has_accepted = true;
    if (decision.run_s > 0) plan_.time.current_s = decision.run_s;
  }
  const bool is_on = decision.outcome == FixOutcome::kAccepted || plan_.result.accepted.Has(item.fix->name);
  plan_.result.decisions.push_back(std::move(decision));
  plan_.Tell({.kind = PlannerEvent::Kind::kDecided, .decision = &plan_.result.decisions.back()});
  return is_on;
}

}  // namespace gapless::internal
