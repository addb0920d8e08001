// SPDX-License-Identifier: Apache-2.0
// The end of a plan: takes out what does nothing beside the others, and proves all that stayed together.
#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "optimize/planner_state.h"
#include "proof/measure.h"

namespace gapless::internal {
namespace {

constexpr int kMinRounds = 5;  // about as many as show that a fix is in the way

}  // namespace

// Compares all fixes with all but one, for each of them, in shared rounds: a run with all, and one without each. The
// one that the others are fastest without goes, and the rest is asked again: of two fixes that cure the same, each
// looks idle beside the other. No time for a verdict leaves a fix on.
Result<void> Planner::TakeOutWhatIsIdle() {
  for (size_t left = result_.accepted.items().size(); left > 1; --left) {
    GAPLESS_ASSIGN(auto idle, FindIdle());
    if (!idle) return {};
    Decision& decision = *idle->decision;
    decision.outcome = FixOutcome::kTakenOut;
    decision.reason = StrCat("taken out again, beside the others: ", idle->verdict.reason);
    result_.accepted = result_.accepted.Without(decision.item.fix->name);
    Tell({.kind = PlannerEvent::Kind::kDecided, .decision = &decision});
  }
  return {};
}

std::optional<std::vector<Planner::Member>> Planner::MembersToRetest() {
  std::vector<Member> members;
  for (Decision& decision : result_.decisions)
    if (decision.outcome == FixOutcome::kAccepted) members.emplace_back(&decision, Contest(options_.pairs));
  // The trial of the last one by pairs of runs was exactly this comparison, if nothing was taken out since.
  const bool is_last_known =
      !members.empty() && !members.back().decision->live &&
      members.back().decision->beside == result_.accepted.Without(members.back().decision->item.fix->name).ToString();
  if (is_last_known) members.pop_back();
  const auto round = Lasting(time_.current_s * static_cast<double>(members.size() + 1));
  if (members.empty() || runner_.Now() + round * kMinRounds > time_.ContestDeadline()) return std::nullopt;
  return members;
}

// Runs rounds until every member is decided. Returns the one that is most in the way; absent: none is.
Result<std::optional<Planner::Member>> Planner::FindIdle() {
  auto members = MembersToRetest();
  if (!members) return std::optional<Member>();
  Random random(options_.seed + 7919 * ++contests_);
  for (size_t round = 0; round < options_.most_pairs; ++round) {
    std::vector<Member*> open;
    for (Member& member : *members)
      if (!EndingOf(member.contest.sequence, options_.most_pairs)) open.push_back(&member);
    const auto takes = Lasting(time_.current_s * static_cast<double>(open.size() + 1));
    if (open.empty() || runner_.Now() + takes > time_.ContestDeadline()) break;
    Tell({.kind = PlannerEvent::Kind::kRetesting, .item = &open.front()->decision->item});
    GAPLESS_ASSIGN(auto went_well, RunRound(random, open));
    if (!went_well) break;
  }
  std::optional<Member> worst;
  for (Member& member : *members) {
    const auto ending = EndingOf(member.contest.sequence, options_.most_pairs);
    member.contest.ending = ending.value_or(Ending::kNoTime);
    judge_.Conclude(member.contest, member.verdict);
    if (member.verdict.outcome == FixOutcome::kAccepted || member.verdict.outcome == FixOutcome::kNoTime) continue;
    if (!worst || member.verdict.measured->expected < worst->verdict.measured->expected) worst = std::move(member);
  }
  return worst;
}

// One run with all fixes, and one without each of the open members, in random order. Returns false when a run went
// wrong: what was measured before it counts.
Result<bool> Planner::RunRound(Random& random, const std::vector<Member*>& open) {
  std::vector<Member*> order = open;
  order.push_back(nullptr);  // with all
  for (size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random.Index(i + 1)]);
  std::optional<RunSample> with_all;
  std::vector<std::pair<Member*, RunSample>> without;
  for (Member* member : order) {
    const FixSet set =
        member == nullptr ? result_.accepted : result_.accepted.Without(member->decision->item.fix->name);
    GAPLESS_ASSIGN(auto sample, runner_.Run(set));
    if (FaultOf(sample) != Fault::kNone) return false;
    if (member == nullptr)
      with_all = std::move(sample);
    else
      without.emplace_back(member, std::move(sample));
  }
  for (auto& [member, sample] : without) {
    member->contest.sequence.Add(std::log(RatioOfTimes(sample, *with_all)));
    machine_.Add(SteadyStepMs(*with_all), current_.step_ms);
  }
  return true;
}

// One fix alone was measured against the command as it is.
bool Planner::IsProvedAlready() {
  if (result_.accepted.items().size() != 1) return false;
  for (Decision& decision : result_.decisions) {
    if (decision.outcome != FixOutcome::kAccepted || decision.live || !decision.alone) continue;
    result_.speedup = decision.measured;
    result_.pairs = decision.pairs;
    if (decision.before) result_.before = *decision.before;  // of the same minutes
    result_.after = decision.stage;
    proved_ = &decision;
    result_.training = decision.training;
    result_.metric = decision.metric;
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
  GAPLESS_ASSIGN(auto contest, HoldPairs({}, result_.accepted, nullptr, time_.deadline()));
  if (contest.ending == Ending::kFault) result_.against = StrCat("a run with all of them went wrong: ", contest.fault);
  result_.pairs = contest.sequence.size();
  if (result_.pairs > 0) result_.speedup = contest.Speedup();
  if (contest.b.empty()) return {};
  if (!contest.a.empty()) result_.before = StageOf(contest.a);
  result_.after = StageOf(contest.b);
  if (result_.speedup && result_.speedup->low.value_or(0) > 1) {
    // The last one with all before it is what was proved, beside `before` in the same minutes; its own runs were
    // earlier.
    const auto last = std::find_if(result_.decisions.rbegin(), result_.decisions.rend(),
                                   [](const Decision& decision) { return decision.outcome == FixOutcome::kAccepted; });
    last->stage = result_.after;
    proved_ = &*last;
    // One fix alone has one figure, that of the proof.
    if (result_.accepted.items().size() == 1) last->measured = result_.speedup, last->pairs = result_.pairs;
  }
  return CheckTrainingOfTheWhole(contest);
}

// The last fix that stayed was recorded together with all before it, unless one of these was taken out since.
Result<void> Planner::CheckTrainingOfTheWhole(const Contest& contest) {
  Decision all;
  for (const Decision& decision : result_.decisions) {
    if (decision.outcome == FixOutcome::kAccepted) all.training = decision.training;
    if (decision.outcome == FixOutcome::kTakenOut) all.training.reset();
  }
  if (!all.training) {
    GAPLESS_TRY(runner_.RunFirst(result_.accepted));
    GAPLESS_ASSIGN(all.training, runner_.Training(result_.accepted, options_.exact));
  }
  result_.training = all.training;
  const bool same =
      judge_.PassesTraining(result_.accepted, all) && judge_.PassesResults(result_.accepted, contest.b, all, contest.a);
  result_.metric = all.metric;
  if (!same && result_.against.empty()) result_.against = StrCat("together they train something else: ", all.reason);
  return {};
}

}  // namespace gapless::internal
