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
Result<void> Proof::TakeOutWhatIsIdle() {
  for (size_t left = plan_.result.accepted.items().size(); left > 1; --left) {
    GAPLESS_ASSIGN(auto idle, FindIdle());
    if (!idle) return {};
    Decision& decision = *idle->decision;
    decision.outcome = FixOutcome::kTakenOut;
    decision.reason = StrCat("taken out again, beside the others: ", idle->verdict.reason);
    plan_.result.accepted = plan_.result.accepted.Without(decision.item.fix->name);
    plan_.Tell({.kind = PlannerEvent::Kind::kDecided, .decision = &decision});
  }
  return {};
}

std::optional<std::vector<Proof::Member>> Proof::MembersToRetest() {
  std::vector<Member> members;
  for (Decision& decision : plan_.result.decisions)
    if (decision.outcome == FixOutcome::kAccepted) members.emplace_back(&decision, Contest(plan_.options.pairs));
  // The trial of the last one by pairs of runs was exactly this comparison, if nothing was taken out since.
  const bool is_last_known = !members.empty() && !members.back().decision->live &&
                             members.back().decision->beside ==
                                 plan_.result.accepted.Without(members.back().decision->item.fix->name).ToString();
  if (is_last_known) members.pop_back();
  const auto round = Lasting(plan_.time.current_s * static_cast<double>(members.size() + 1));
  if (members.empty() || plan_.runner.Now() + round * kMinRounds > plan_.time.ContestDeadline()) return std::nullopt;
  return members;
}

// Runs rounds until every member is decided. Returns the one that is most in the way; absent: none is.
Result<std::optional<Proof::Member>> Proof::FindIdle() {
  auto members = MembersToRetest();
  if (!members) return std::optional<Member>();
  Random random(plan_.options.seed + 7919 * ++plan_.draws);
  for (size_t round = 0; round < plan_.options.most_pairs; ++round) {
    std::vector<Member*> open;
    for (Member& member : *members)
      if (!EndingOf(member.contest.sequence, plan_.options.most_pairs)) open.push_back(&member);
    const auto takes = Lasting(plan_.time.current_s * static_cast<double>(open.size() + 1));
    if (open.empty() || plan_.runner.Now() + takes > plan_.time.ContestDeadline()) break;
    plan_.Tell({.kind = PlannerEvent::Kind::kRetesting, .item = &open.front()->decision->item});
    GAPLESS_ASSIGN(auto went_well, RunRound(random, open));
    if (!went_well) break;
  }
  std::optional<Member> worst;
  for (Member& member : *members) {
    const auto ending = EndingOf(member.contest.sequence, plan_.options.most_pairs);
    member.contest.ending = ending.value_or(Ending::kNoTime);
    plan_.judge.Conclude(member.contest, member.verdict);
    if (member.verdict.outcome == FixOutcome::kAccepted || member.verdict.outcome == FixOutcome::kNoTime) continue;
    if (!worst || member.verdict.measured->expected < worst->verdict.measured->expected) worst = std::move(member);
  }
  return worst;
}

// One run with all fixes, and one without each of the open members, in random order. Returns false when a run went
// wrong: what was measured before it counts.
Result<bool> Proof::RunRound(Random& random, const std::vector<Member*>& open) {
  std::vector<Member*> order = open;
  order.push_back(nullptr);  // with all
  for (size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random.Index(i + 1)]);
  std::optional<RunSample> with_all;
  std::vector<std::pair<Member*, RunSample>> without;
  for (Member* member : order) {
    const FixSet set =
        member == nullptr ? plan_.result.accepted : plan_.result.accepted.Without(member->decision->item.fix->name);
    GAPLESS_ASSIGN(auto sample, plan_.runner.Run(set));
    if (FaultOf(sample) != Fault::kNone) return false;
    if (member == nullptr)
      with_all = std::move(sample);
    else
      without.emplace_back(member, std::move(sample));
  }
  for (auto& [member, sample] : without) {
    member->contest.sequence.Add(std::log(RatioOfTimes(sample, *with_all)));
    plan_.machine.Add(SteadyStepMs(*with_all), plan_.current.step_ms);
  }
  return true;
}

// One fix alone was measured against the command as it is.
bool Proof::IsProvedAlready() {
  if (plan_.result.accepted.items().size() != 1) return false;
  for (Decision& decision : plan_.result.decisions) {
    if (decision.outcome != FixOutcome::kAccepted || decision.live || !decision.alone) continue;
    plan_.result.speedup = decision.measured;
    plan_.result.pairs = decision.pairs;
    if (decision.before) plan_.result.before = *decision.before;  // of the same minutes
    plan_.result.after = decision.stage;
    plan_.proved = &decision;
    plan_.result.training = decision.training;
    plan_.result.metric = decision.metric;
    return true;
  }
  return false;
}

// Compares all accepted fixes with the unchanged command. Measured gains of single fixes do not multiply, so the
// product is never reported.
Result<void> Proof::ProveTheWhole() {
  const bool has_time = plan_.runner.Now() + plan_.time.ProofPairTakes() *
                                                 ((contests_.IsGainLarge() ? kFewestPairs : kMinPairsToProve) + 1) <
                        plan_.time.deadline();
  const bool is_left_over = has_time && !plan_.result.untried.empty();  // for nothing else: a second measurement
  if (plan_.result.accepted.empty() || (!is_left_over && IsProvedAlready())) return {};
  plan_.Tell({.kind = PlannerEvent::Kind::kFinal});
  GAPLESS_ASSIGN(auto contest, contests_.HoldPairs({}, plan_.result.accepted, nullptr, plan_.time.deadline()));
  if (contest.ending == Ending::kFault)
    plan_.result.against = StrCat("a run with all of them went wrong: ", contest.fault);
  plan_.result.pairs = contest.sequence.size();
  if (plan_.result.pairs > 0) plan_.result.speedup = contest.Speedup();
  if (contest.b.empty()) return {};
  if (!contest.a.empty()) plan_.result.before = StageOf(contest.a);
  plan_.result.after = StageOf(contest.b);
  if (plan_.result.speedup && plan_.result.speedup->low.value_or(0) > 1) {
    // The last one with all before it is what was proved, beside `before` in the same minutes; its own runs were
    // earlier.
    const auto last = std::find_if(plan_.result.decisions.rbegin(), plan_.result.decisions.rend(),
                                   [](const Decision& decision) { return decision.outcome == FixOutcome::kAccepted; });
    last->stage = plan_.result.after;
    plan_.proved = &*last;
    // One fix alone has one figure, that of the proof.
    if (plan_.result.accepted.items().size() == 1)
      last->measured = plan_.result.speedup, last->pairs = plan_.result.pairs;
  }
  return CheckTrainingOfTheWhole(contest);
}

// The last fix that stayed was recorded together with all before it, unless one of these was taken out since.
Result<void> Proof::CheckTrainingOfTheWhole(const Contest& contest) {
  Decision all;
  for (const Decision& decision : plan_.result.decisions) {
    if (decision.outcome == FixOutcome::kAccepted) all.training = decision.training;
    if (decision.outcome == FixOutcome::kTakenOut) all.training.reset();
  }
  if (!all.training) {
    GAPLESS_TRY(plan_.runner.RunFirst(plan_.result.accepted));
    GAPLESS_ASSIGN(all.training, plan_.runner.Training(plan_.result.accepted, plan_.options.exact));
  }
  plan_.result.training = all.training;
  const bool same = plan_.judge.PassesTraining(plan_.result.accepted, all) &&
                    plan_.judge.PassesResults(plan_.result.accepted, contest.b, all, contest.a);
  plan_.result.metric = all.metric;
  if (!same && plan_.result.against.empty())
    plan_.result.against =
        StrCat(plan_.options.inference ? "together they " : "together they train something else: ", all.reason);
  return {};
}

}  // namespace gapless::internal
