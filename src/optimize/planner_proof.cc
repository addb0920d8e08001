// SPDX-License-Identifier: Apache-2.0
// The end of a plan: takes out what does nothing beside the others, and proves all that stayed together.
#include <algorithm>

#include "base/strings.h"
#include "optimize/planner_state.h"

namespace gapless::internal {

// Compares all fixes with all but one, for each fix but the last, whose own trial was exactly that. Only a verdict
// against a fix takes it out; no time for a verdict leaves it on.
Result<void> Planner::TakeOutWhatIsIdle() {
  std::vector<Decision*> accepted;
  for (Decision& decision : result_.decisions)
    if (decision.outcome == FixOutcome::kAccepted) accepted.push_back(&decision);
  for (size_t i = 0; i + 1 < accepted.size(); ++i) {
    Decision& decision = *accepted[i];
    if (runner_.Now() + time_.PairTakes() * kPairsToDecide > time_.ContestDeadline()) break;
    Tell({.kind = PlannerEvent::Kind::kRetesting, .item = &decision.item});
    auto contest = HoldPairs(result_.accepted.Without(decision.item.fix->name), result_.accepted, &decision.item,
                             time_.ContestDeadline());
    if (!contest) return Unexpected{contest.error()};
    Decision again{.item = decision.item};
    judge_.Conclude(*contest, again);
    if (again.outcome == FixOutcome::kAccepted || again.outcome == FixOutcome::kNoTime) continue;
    decision.outcome = FixOutcome::kTakenOut;
    decision.reason = StrCat("taken out again, beside the others: ", again.reason);
    result_.accepted = result_.accepted.Without(decision.item.fix->name);
    Tell({.kind = PlannerEvent::Kind::kDecided, .decision = &decision});
  }
  return {};
}

// One fix alone was measured against the command as it is.
bool Planner::IsProvedAlready() {
  if (result_.accepted.items().size() != 1) return false;
  for (const Decision& decision : result_.decisions) {
    if (decision.outcome != FixOutcome::kAccepted || decision.live || !decision.alone) continue;
    result_.speedup = decision.measured;
    result_.pairs = decision.pairs;
    result_.after = decision.stage;
    result_.training = decision.training;
    return true;
  }
  return false;
}

// Compares all accepted fixes with the unchanged command. Measured gains of single fixes do not multiply, so the
// product is never reported.
Result<void> Planner::ProveTheWhole() {
  const bool has_time =
      runner_.Now() + time_.ProofPairTakes() * ((IsGainLarge() ? kFewestPairs : kMinPairsToProve) + 1) <
      time_.deadline();
  const bool is_left_over = has_time && !result_.untried.empty();  // for nothing else: a second measurement
  if (result_.accepted.empty() || (!is_left_over && IsProvedAlready())) return {};
  Tell({.kind = PlannerEvent::Kind::kFinal});
  auto contest = HoldPairs({}, result_.accepted, nullptr, time_.deadline());
  if (!contest) return Unexpected{contest.error()};
  if (contest->ending == Ending::kFault)
    result_.against = StrCat("a run with all of them went wrong: ", contest->fault);
  result_.pairs = contest->sequence.size();
  if (result_.pairs > 0) result_.speedup = contest->Speedup();
  if (contest->b.empty()) return {};
  if (!contest->a.empty()) result_.before = StageOf(contest->a);
  result_.after = StageOf(contest->b);
  if (result_.speedup && result_.speedup->low.value_or(0) > 1) {
    // The last one with all before it is what was proved, beside `before` in the same minutes; its own runs were
    // earlier.
    const auto last = std::find_if(result_.decisions.rbegin(), result_.decisions.rend(),
                                   [](const Decision& decision) { return decision.outcome == FixOutcome::kAccepted; });
    last->stage = result_.after;
    proved_ = &*last;
  }
  return CheckTrainingOfTheWhole(contest->b);
}

// The last fix that stayed was recorded together with all before it, unless one of these was taken out since.
Result<void> Planner::CheckTrainingOfTheWhole(std::span<const RunSample> runs) {
  Decision all;
  for (const Decision& decision : result_.decisions) {
    if (decision.outcome == FixOutcome::kAccepted) all.training = decision.training;
    if (decision.outcome == FixOutcome::kTakenOut) all.training.reset();
  }
  if (!all.training) {
    const auto again = runner_.RunFirst(result_.accepted);
    if (!again) return Unexpected{again.error()};
    auto training = runner_.Training(result_.accepted, options_.exact);
    if (!training) return Unexpected{training.error()};
    all.training = std::move(*training);
  }
  result_.training = all.training;
  const bool same = judge_.PassesTraining(result_.accepted, all) && judge_.PassesResults(result_.accepted, runs, all);
  if (!same && result_.against.empty()) result_.against = StrCat("together they train something else: ", all.reason);
  return {};
}

}  // namespace gapless::internal
