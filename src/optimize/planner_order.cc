// SPDX-License-Identifier: Apache-2.0
// The order of trials: the choice of the next candidate within the budget, families of values, and what is done with
// the time that is left.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/strings.h"
#include "optimize/planner_state.h"

namespace gapless::internal {
namespace {

constexpr double kLargePromise = 1.1;  // worth shorter runs from the first trial on
constexpr double kMinAhead = 1.03;     // measured speedup of a fix that is not decided, but worth naming
constexpr double kOtherValue = 1.02;   // speedup expected of another value of a fix that is on

}  // namespace

// Candidates that were left out for want of time, the one with the most promise first, as long as nothing is on. As few
// pairs as can decide prove a clear gain, and a smaller one is then known to be ahead.
Result<void> TrialOrder::SpendWhatIsLeft() {
  const auto promise_of = [&](const Candidate& candidate) {
    return PromiseOf(candidate, plan_.screened, plan_.time.current_s, true, plan_.slow_start_s);
  };
  std::vector<Candidate> left_out = trials_.TakeLeftOut();
  std::ranges::stable_sort(
      left_out, [&](const Candidate& a, const Candidate& b) { return promise_of(a).speedup > promise_of(b).speedup; });
  for (const Candidate& candidate : left_out) {
    const double later_run_s = promise_of(candidate).later_run_s;
    const double needs_s = 2 * later_run_s - plan_.time.current_s + kFewestPairs * (plan_.time.current_s + later_run_s);
    if (!plan_.result.accepted.empty() || plan_.runner.Now() + Lasting(needs_s) > plan_.time.deadline()) continue;
    const auto is_of_candidate = [&](const auto& of) { return of.item.ToString() == candidate.item.ToString(); };
    std::erase_if(plan_.result.decisions, is_of_candidate);
    std::erase_if(plan_.result.untried, is_of_candidate);
    GAPLESS_ASSIGN(auto decision, trials_.Try(candidate, candidate.item));
    trials_.Settle(std::move(decision));
  }
  return {};
}

// Values of a fix that cannot be switched: one run each, and the quickest goes on to the contest.
Result<void> TrialOrder::TryFamily(const std::vector<Candidate>& family) {
  std::vector<Decision> decisions;
  const Decision* best = nullptr;
  for (const Candidate& candidate : family) {
    GAPLESS_ASSIGN(auto decision, trials_.Try(candidate, candidate.item, false));
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
        const auto begun = plan_.runner.Now();
        GAPLESS_TRY(trials_.Measure(plan_.result.accepted.With(decision.item), decision));
        decision.took_s += Seconds(plan_.runner.Now() - begun);
        continue;
      }
      decision.outcome = FixOutcome::kTooSmall;
      decision.reason = StrCat("another value was quicker in a run of each: ", quickest, " a step, this one ",
                               FormatDigits(decision.stage->step_ms, 3), " ms");
    }
  }
  for (Decision& decision : decisions) trials_.Settle(std::move(decision));
  return {};
}

// The trial of a small gain, and the proof that it makes necessary, may take the time that a larger one needs: then the
// larger one is first. Runs are shortened if it would have no time at all.
size_t TrialOrder::NextWithin() {
  const bool is_alone = plan_.result.accepted.empty();
  const auto promise_of = [&](size_t i) {
    return PromiseOf(pending_[i], plan_.screened, plan_.time.current_s, is_alone, plan_.slow_start_s);
  };
  size_t largest = 0;
  for (size_t i = 1; i < pending_.size(); ++i)
    if (!MustWait(pending_, i) && promise_of(i).speedup > promise_of(largest).speedup) largest = i;
  if (const Promise promise = promise_of(largest);
      !promise.at_once && promise.speedup >= kLargePromise && !trials_.TimesOf(pending_[largest]).fits)
    trials_.FitsInShorterRuns(pending_[largest]);
  const size_t next = NextOf(pending_, plan_.screened, plan_.time.current_s, is_alone, plan_.slow_start_s);
  const Promise first = promise_of(next);
  if (first.at_once) return next;
  const double left_s = Seconds(plan_.time.deadline() - plan_.runner.Now());
  const auto proof_s = [&](const Promise& promise, bool has_accepted, bool is_live) {
    return has_accepted || is_live ? Seconds(plan_.time.deadline() - plan_.time.ProofBegins(promise.later_run_s)) : 0;
  };
  size_t best = next;
  double best_speedup = first.speedup;
  for (size_t i = 0; i < pending_.size(); ++i) {
    const Promise promise = promise_of(i);
    const double alone_s =
                     promise.min_trial_s + proof_s(promise, !is_alone, pending_[i].item.fix->trial.live.between_steps),
                 after_s = first.min_trial_s + promise.min_trial_s + proof_s(promise, true, true);
    if (!MustWait(pending_, i) && promise.speedup > best_speedup && alone_s <= left_s && after_s > left_s)
      best = i, best_speedup = promise.speedup;
  }
  return best;
}

// Tries the first value. Once it is on, the next one waits for all other candidates: most often it is no better still,
// and each of those may bring what this one did.
Result<void> TrialOrder::TryValues(const Candidate& candidate) {
  GAPLESS_ASSIGN(auto decision, trials_.Try(candidate, candidate.item));
  if (plan_.met_busy_machine && !candidate.was_busy) {  // once more, after the others
    pending_.push_back(candidate);
    pending_.back().was_busy = true;
    plan_.met_busy_machine = false;
    return {};
  }
  const bool is_accepted = decision.outcome == FixOutcome::kAccepted;
  const bool is_on = trials_.Settle(std::move(decision));
  const bool goes_on = is_accepted || (is_on && plan_.result.decisions.back().pairs > 0);
  if (!goes_on || candidate.others.empty()) return {};
  Candidate next = candidate;
  next.item.value = candidate.others.front();
  next.others.erase(next.others.begin());
  next.score = std::min(next.score, kOtherValue);
  pending_.push_back(std::move(next));
  return {};
}

// The candidate whose decision is known from an earlier start, else the one with the most gain per second.
Result<void> TrialOrder::TryNext() {
  const auto known = std::ranges::find_if(
      pending_, [&](const Candidate& of) { return plan_.keeper.Find(of.item, plan_.result.accepted) != nullptr; });
  const size_t next = known != pending_.end() ? static_cast<size_t>(known - pending_.begin()) : NextWithin();
  const Candidate candidate = pending_[next];
  const auto is_family = [&](const Candidate& of) {
    return of.item.fix == candidate.item.fix && !plan_.IsSwitched(of) && of.skip.empty() && of.others.empty();
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

Result<void> TrialOrder::TryAll(const std::vector<Candidate>& candidates) {
  plan_.candidates = candidates.size();
  pending_ = candidates;
  GAPLESS_TRY(Screen());
  while (!pending_.empty()) {
    const size_t before = pending_.size();
    GAPLESS_TRY(TryNext());
    plan_.done += before - std::min(before, pending_.size());
  }
  return {};
}

// Contests whose share of the budget was over, the one with the most gain first, in the time that is left: time that is
// left decides what is undecided. If it is over before the interval that may be looked at after every pair says
// anything, all pairs are looked at once, at half the error.
Result<void> TrialOrder::GoOnWithUndecided() {
  const auto gain = [](const Undecided& of) { return of.decision.measured ? of.decision.measured->expected : 1; };
  std::ranges::stable_sort(plan_.undecided, [&](const Undecided& a, const Undecided& b) { return gain(a) > gain(b); });
  for (Undecided& open : plan_.undecided) {
    const bool is_current = open.beside.ToString() == plan_.result.accepted.ToString();
    if (!is_current || gain(open) <= 1 || plan_.runner.Now() + plan_.time.PairTakes() > plan_.time.ContestDeadline())
      continue;
    GAPLESS_ASSIGN(
        auto contest,
        contests_.HoldPairs(plan_.result.accepted, plan_.result.accepted.With(open.decision.item), &open.decision.item,
                            plan_.time.ContestDeadline(), open.contest ? &*open.contest : nullptr));
    const bool is_open = contest.ending == Ending::kNoTime;
    if (is_open && contest.sequence.size() < kFewestPairs) continue;
    if (is_open && !contest.at_once) {
      contest.at_once = true;
      contest.level = 1 - plan_.options.pairs.alpha / 2;
    }
    Decision decision = open.decision;
    decision.live = false;
    decision.alone = plan_.result.accepted.empty();
    decision.beside = plan_.result.accepted.ToString();
    plan_.judge.Conclude(contest, decision);
    if (decision.outcome == FixOutcome::kAccepted) {
      decision.stage = StageOf(contest.b);
      if (!contest.a.empty()) decision.before = StageOf(contest.a);
      decision.run_s = LongestSeconds(contest.b);
      plan_.judge.PassesResults(plan_.result.accepted.With(decision.item), contest.b, decision, contest.a);
    }
    std::erase_if(plan_.result.decisions,
                  [&](const Decision& of) { return of.item.ToString() == decision.item.ToString(); });
    trials_.Settle(std::move(decision));
  }
  return {};
}

// The fixes that are not decided at the end, but were faster in the pairs that they have, are not thrown away.
void ListAhead(PlanState& plan) {
  for (const Decision& decision : plan.result.decisions) {
    if (decision.pairs == 0 || !decision.measured || plan.result.accepted.Has(decision.item.fix->name)) continue;
    const double gain = decision.measured->expected;
    // Pairs that could not have shown such a gain say nothing against it.
    const bool is_unseen = decision.outcome == FixOutcome::kTooSmall && decision.detectable && gain > kMinAhead &&
                           *decision.detectable > 1 - 1 / gain;
    const bool is_ahead = is_unseen || (decision.outcome == FixOutcome::kNoTime && gain > kMinPromise);
    if (!is_ahead || plan.result.accepted.ConflictWith(*decision.item.fix) != nullptr) continue;
    const size_t pairs = decision.pairs + 1 < kPairsToDecide ? kPairsToDecide - decision.pairs : 1;
    plan.result.ahead.push_back({.item = decision.item,
                                 .promise = gain,
                                 .needs_s = static_cast<double>(pairs) * Seconds(plan.time.PairTakes())});
  }
  std::ranges::stable_sort(plan.result.ahead, [](const Untried& a, const Untried& b) { return a.promise > b.promise; });
}

}  // namespace gapless::internal
