// SPDX-License-Identifier: Apache-2.0
// Implements the planner's choice of the next candidate within the budget, and families of values.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/strings.h"
#include "optimize/planner_state.h"

namespace gapless::internal {
namespace {

constexpr double kMaxShareOfProof = 0.4;
constexpr double kMinMeasuredS = 1;
constexpr double kLargePromise = 1.1;  // worth shorter runs from the first trial on
constexpr double kMinAhead = 1.03;     // measured speedup of a fix that is not decided, but worth naming
constexpr double kMinPromise = 1.01;   // a candidate that promises less is no reason for a larger budget

}  // namespace

// The pairs of the proof are to take kMaxShareOfProof of the budget at most: long runs are measured for a shorter time.
void Planner::FitRunsToBudget() {
  const RunSample& last = baselines_.back();
  measured_s_ = result_.before.step_ms * static_cast<double>(last.step_ns.size()) / 1e3;
  const double max_run_s = kMaxShareOfProof * options_.budget_s / (2 * kPairsToProve);
  const double recorded_s = measured_s_;
  ShortenRunsTo(measured_s_ - (time_.command_s - max_run_s));
  if (measured_s_ < recorded_s) runner_.MeasureFor(measured_s_);
}

// The shortest measurement that is of use, which is kMinMeasuredSteps where steps are long.
double Planner::MinMeasuredS() const {
  return std::max(kMinMeasuredS, kMinMeasuredSteps * result_.before.step_ms / 1e3);
}

// Runs measure for `seconds` from now on, as far as that is shorter, and long enough to be of use.
void Planner::ShortenRunsTo(double seconds) {
  const double kept_s = std::max(seconds, MinMeasuredS());
  if (kept_s >= measured_s_) return;
  time_.command_s -= measured_s_ - kept_s;
  time_.current_s -= measured_s_ - kept_s;
  measured_s_ = kept_s;
}

// When a trial would be over, and when it has to be for the proof after it.
Planner::TrialTimes Planner::TimesOf(const Candidate& candidate) const {
  const Promise promise = PromiseOf(candidate, screened_, time_.current_s, result_.accepted.empty(), slow_start_s_);
  TrialTimes times{.promise = promise, .needs_proof = candidate.item.fix->trial.live || time_.has_accepted};
  times.trial_s = std::max(promise.min_trial_s, 2 * time_.current_s);
  times.ends = times.needs_proof ? time_.ProofBegins(promise.later_run_s) : time_.deadline();
  // A fix alone is proved by pairs of runs that it is tried with.
  const double alone_s = promise.later_run_s + PairsToProve(promise.expected) * (time_.current_s + promise.later_run_s);
  const auto now = runner_.Now();
  times.fits = now + Lasting(times.trial_s) <= times.ends ||
               (candidate.item.fix->trial.live && !time_.has_accepted && now + Lasting(alone_s) <= time_.deadline());
  return times;
}

// Runs that measure for a shorter time leave time for a candidate that would have none.
bool Planner::FitsInShorterRuns(const Candidate& candidate) {
  const TimeBudget time = time_;
  const double measured_s = measured_s_;
  while (measured_s_ > MinMeasuredS()) {
    ShortenRunsTo(measured_s_ / 2);
    if (!TimesOf(candidate).fits) continue;
    runner_.MeasureFor(measured_s_);
    return true;
  }
  time_ = time;
  measured_s_ = measured_s;
  return false;
}

// A trial without time for a verdict, or for the proof after it, is not begun: it could only be lost.
bool Planner::HasTimeFor(const Candidate& candidate, Decision& decision) {
  if (is_spending_) return true;
  const TrialTimes times = TimesOf(candidate);
  if (times.fits) return true;
  const bool is_wanted = times.promise.speedup >= kMinPromise && !result_.accepted.Has(candidate.item.fix->name);
  if (is_wanted && FitsInShorterRuns(candidate)) return true;
  decision.outcome = FixOutcome::kNoTime;
  const auto words = [](double seconds) { return StrCat(FormatNumber(std::max(0.0, seconds), 0), " s"); };
  const auto now = runner_.Now();
  const double left_s = Seconds(time_.deadline() - now);
  decision.reason = left_s <= 0 ? "the budget was used up"
                                : StrCat("its trial takes about ", words(times.trial_s),
                                         times.needs_proof ? ", the proof of all together " : "",
                                         times.needs_proof ? words(left_s - Seconds(times.ends - now)) : "",
                                         times.needs_proof ? ", and " : " and only ", words(left_s),
                                         " of the budget are left: --budget gives more");
  if (is_wanted) {
    result_.untried.push_back({.item = decision.item, .promise = times.promise.expected, .needs_s = times.trial_s});
    left_out_.push_back(candidate);
  }
  return false;
}

// Candidates that were left out for want of time, the one with the most promise first, as long as nothing is on. As few
// pairs as can decide prove a clear gain, and a smaller one is then known to be ahead.
Result<void> Planner::SpendWhatIsLeft() {
  const auto promise_of = [&](const Candidate& candidate) {
    return PromiseOf(candidate, screened_, time_.current_s, true, slow_start_s_);
  };
  std::ranges::stable_sort(
      left_out_, [&](const Candidate& a, const Candidate& b) { return promise_of(a).speedup > promise_of(b).speedup; });
  is_spending_ = true;
  for (const Candidate& candidate : left_out_) {
    const double later_run_s = promise_of(candidate).later_run_s;
    const double needs_s = 2 * later_run_s - time_.current_s + kFewestPairs * (time_.current_s + later_run_s);
    if (!result_.accepted.empty() || runner_.Now() + Lasting(needs_s) > time_.deadline()) continue;
    const auto is_of_candidate = [&](const auto& of) { return of.item.ToString() == candidate.item.ToString(); };
    std::erase_if(result_.decisions, is_of_candidate);
    std::erase_if(result_.untried, is_of_candidate);
    GAPLESS_ASSIGN(auto decision, Try(candidate, candidate.item));
    Settle(std::move(decision));
  }
  return {};
}

// Values of a fix that cannot be switched: one run each, and the quickest goes on to the contest.
Result<void> Planner::TryFamily(const std::vector<Candidate>& family) {
  std::vector<Decision> decisions;
  const Decision* best = nullptr;
  for (const Candidate& candidate : family) {
    GAPLESS_ASSIGN(auto decision, Try(candidate, candidate.item, false));
    decisions.push_back(std::move(decision));
  }
  for (const Decision& decision : decisions)
    if (decision.stage && decision.pairs == 0 && (!best || TimeRatio(*best->stage, *decision.stage) < 1))
      best = &decision;
  if (best != nullptr) {
    const std::string quickest = StrCat(best->item.ToString(), " took ", FormatDigits(best->stage->step_ms, 3), " ms");
    for (Decision& decision : decisions) {
      if (!decision.stage || decision.pairs > 0) continue;
      if (&decision == best) {
        const auto begun = runner_.Now();
        GAPLESS_TRY(Measure(result_.accepted.With(decision.item), decision));
        decision.took_s += Seconds(runner_.Now() - begun);
        continue;
      }
      decision.outcome = FixOutcome::kTooSmall;
      decision.reason = StrCat("another value was quicker in a run of each: ", quickest, " a step, this one ",
                               FormatDigits(decision.stage->step_ms, 3), " ms");
    }
  }
  for (Decision& decision : decisions) Settle(std::move(decision));
  return {};
}

// The trial of a small gain, and the proof that it makes necessary, may take the time that a larger one needs: then the
// larger one is first. Runs are shortened if it would have no time at all.
size_t Planner::NextWithin() {
  const bool is_alone = result_.accepted.empty();
  const auto promise_of = [&](size_t i) {
    return PromiseOf(pending_[i], screened_, time_.current_s, is_alone, slow_start_s_);
  };
  size_t largest = 0;
  for (size_t i = 1; i < pending_.size(); ++i)
    if (promise_of(i).speedup > promise_of(largest).speedup) largest = i;
  if (const Promise promise = promise_of(largest);
      !promise.at_once && promise.speedup >= kLargePromise && !TimesOf(pending_[largest]).fits)
    FitsInShorterRuns(pending_[largest]);
  const size_t next = NextOf(pending_, screened_, time_.current_s, is_alone, slow_start_s_);
  const Promise first = promise_of(next);
  if (first.at_once) return next;
  const double left_s = Seconds(time_.deadline() - runner_.Now());
  const auto proof_s = [&](const Promise& promise, bool has_accepted, bool is_live) {
    return has_accepted || is_live ? Seconds(time_.deadline() - time_.ProofBegins(promise.later_run_s)) : 0;
  };
  size_t best = next;
  double best_speedup = first.speedup;
  for (size_t i = 0; i < pending_.size(); ++i) {
    const Promise promise = promise_of(i);
    const double alone_s = promise.min_trial_s + proof_s(promise, !is_alone, pending_[i].item.fix->trial.live),
                 after_s = first.min_trial_s + promise.min_trial_s + proof_s(promise, true, true);
    if (promise.speedup > best_speedup && alone_s <= left_s && after_s > left_s)
      best = i, best_speedup = promise.speedup;
  }
  return best;
}

// The candidate whose decision is known from an earlier start, else the one with the most gain per second.
Result<void> Planner::TryNext() {
  const auto known = std::ranges::find_if(
      pending_, [&](const Candidate& of) { return keeper_.Find(of.item, result_.accepted) != nullptr; });
  const size_t next = known != pending_.end() ? static_cast<size_t>(known - pending_.begin()) : NextWithin();
  const Candidate candidate = pending_[next];
  const auto is_family = [&](const Candidate& of) {
    return of.item.fix == candidate.item.fix && !IsSwitched(of) && of.skip.empty() && of.others.empty();
  };
  std::vector<Candidate> family;
  if (is_family(candidate) && known == pending_.end())
    std::ranges::copy_if(pending_, std::back_inserter(family), is_family);
  if (family.size() < 2) {
    pending_.erase(pending_.begin() + static_cast<ptrdiff_t>(next));
    GAPLESS_TRY(TryValues(candidate));
  } else {
    std::erase_if(pending_, is_family);
    GAPLESS_TRY(TryFamily(family));
  }
  return {};
}

Result<void> Planner::TryAll(const std::vector<Candidate>& candidates) {
  candidates_ = candidates.size();
  pending_ = candidates;
  GAPLESS_TRY(Screen());
  while (!pending_.empty()) {
    const size_t before = pending_.size();
    GAPLESS_TRY(TryNext());
    done_ += before - std::min(before, pending_.size());
  }
  return {};
}

// Contests whose share of the budget was over, the one with the most gain first, in the time that is left: time that is
// left decides what is undecided. If it is over before the interval that may be looked at after every pair says
// anything, all pairs are looked at once, at half the error.
Result<void> Planner::GoOnWithUndecided() {
  const auto gain = [](const Undecided& of) { return of.decision.measured ? of.decision.measured->expected : 1; };
  std::ranges::stable_sort(undecided_, [&](const Undecided& a, const Undecided& b) { return gain(a) > gain(b); });
  for (Undecided& open : undecided_) {
    const bool is_current = open.beside.ToString() == result_.accepted.ToString();
    if (!is_current || gain(open) <= 1 || runner_.Now() + time_.PairTakes() > time_.ContestDeadline()) continue;
    GAPLESS_ASSIGN(auto contest,
                   HoldPairs(result_.accepted, result_.accepted.With(open.decision.item), &open.decision.item,
                             time_.ContestDeadline(), open.contest ? &*open.contest : nullptr));
    const bool is_open = contest.ending == Ending::kNoTime;
    if (is_open && contest.sequence.size() < kFewestPairs) continue;
    if (is_open && !contest.at_once) {
      contest.at_once = true;
      contest.level = 1 - options_.pairs.alpha / 2;
    }
    Decision decision = open.decision;
    decision.live = false;
    decision.alone = result_.accepted.empty();
    decision.beside = result_.accepted.ToString();
    judge_.Conclude(contest, decision);
    if (decision.outcome == FixOutcome::kAccepted) {
      decision.stage = StageOf(contest.b);
      if (!contest.a.empty()) decision.before = StageOf(contest.a);
      decision.run_s = LongestSeconds(contest.b);
      judge_.PassesResults(result_.accepted.With(decision.item), contest.b, decision, contest.a);
    }
    std::erase_if(result_.decisions,
                  [&](const Decision& of) { return of.item.ToString() == decision.item.ToString(); });
    Settle(std::move(decision));
  }
  return {};
}

// The fixes that are not decided at the end, but were faster in the pairs that they have, are not thrown away.
void Planner::ListAhead() {
  for (const Decision& decision : result_.decisions) {
    if (decision.pairs == 0 || !decision.measured || result_.accepted.Has(decision.item.fix->name)) continue;
    const double gain = decision.measured->expected;
    // Pairs that could not have shown such a gain say nothing against it.
    const bool is_unseen = decision.outcome == FixOutcome::kTooSmall && decision.detectable && gain > kMinAhead &&
                           *decision.detectable > 1 - 1 / gain;
    const bool is_ahead = is_unseen || (decision.outcome == FixOutcome::kNoTime && gain > kMinPromise);
    if (!is_ahead || result_.accepted.ConflictWith(*decision.item.fix) != nullptr) continue;
    const size_t pairs = decision.pairs + 1 < kPairsToDecide ? kPairsToDecide - decision.pairs : 1;
    result_.ahead.push_back(
        {.item = decision.item, .promise = gain, .needs_s = static_cast<double>(pairs) * Seconds(time_.PairTakes())});
  }
  std::ranges::stable_sort(result_.ahead, [](const Untried& a, const Untried& b) { return a.promise > b.promise; });
}

}  // namespace gapless::internal
