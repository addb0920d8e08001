// SPDX-License-Identifier: Apache-2.0
// Implements the planner's screening: the fixes that can be switched share processes until their blocks are clear.
#include <algorithm>
#include <utility>

#include "optimize/planner_state.h"

namespace gapless::internal {
namespace {

constexpr size_t kMaxScreenings = 8;        // processes
constexpr double kShareOfScreening = 0.25;  // the part of the time that is left before the first candidate
constexpr double kFirstTakes = 4;           // the time that is left must hold this many of a first process

bool IsOpen(const BlockArm& arm) { return arm.refusal.empty() && !EndingOf(arm.sequence, kMaxBlockPairs); }

// Returns true if a run with so many steps has time for enough pairs of every arm.
bool IsLongEnough(const std::vector<BlockArm>& arms, const BlockPlan& plan, size_t steps) {
  size_t needs_steps = plan.warmup;
  for (const BlockArm& arm : arms) needs_steps += kMinScreenedPairs * 2 * arm.BlockSteps(plan.block_steps);
  return steps >= needs_steps;
}

}  // namespace

std::vector<BlockArm> TrialOrder::ArmsToScreen() const {
  std::vector<Candidate> open;
  for (const Candidate& candidate : pending_)
    if (plan_.keeper.Find(candidate.item, plan_.result.accepted) == nullptr) open.push_back(candidate);
  std::vector<BlockArm> arms;
  for (const FixItem& item : ItemsToScreen(open, plan_.options.allow)) arms.push_back(plan_.ArmOf(item));
  return arms;
}

// Blocks are made of steps, and a request may have many: the fixes are compared in pairs of runs.
void TrialOrder::CompareInPairs() {
  for (const Candidate& candidate : pending_) {
    BlockArm arm = plan_.ArmOf(candidate.item);
    arm.refusal = "requests are compared in pairs of runs";
    plan_.screened.insert({arm.fix, std::move(arm)});
  }
}

// All fixes that can be switched, in blocks of shared processes, until each is clear or their share of the budget is
// over. A process that goes wrong says nothing of any of them.
Result<void> TrialOrder::Screen() {
  if (plan_.options.inference) {
    CompareInPairs();
    return {};
  }
  std::vector<BlockArm> arms = ArmsToScreen();
  if (arms.empty()) return {};
  const auto begun = plan_.runner.Now();
  const double left_s = Seconds(plan_.time.deadline() - begun);
  double took_s = 0;
  for (size_t process = 0; process < kMaxScreenings; ++process) {
    const BlockPlan plan =
        ScreeningPlan(plan_.current.step_ms, plan_.options.warmup, left_s, plan_.options.seed + 7919 * ++plan_.draws);
    const bool is_too_short = !plan_.baselines.back().stopped && !IsLongEnough(arms, plan, plan_.steps);
    if (process == 0 && (is_too_short || left_s < kFirstTakes * (plan_.time.command_s + plan.limit_s))) return {};
    if (process > 0 &&
        took_s * static_cast<double>(process + 1) / static_cast<double>(process) > kShareOfScreening * left_s)
      break;
    plan_.Tell({.kind = PlannerEvent::Kind::kScreening});
    const std::vector<BlockArm> before = arms;
    BlockDriver driver(plan, arms);
    GAPLESS_ASSIGN(const auto sample, plan_.runner.RunBlocks({}, driver));
    took_s = Seconds(plan_.runner.Now() - begun);
    if (FaultOf(sample) != Fault::kNone) {
      if (process == 0) return {};
      arms = before;
      break;
    }
    for (const double step_ms : driver.off_ms()) plan_.machine.Add(step_ms, plan_.current.step_ms);
    const bool grew = std::ranges::any_of(arms, [](const BlockArm& arm) { return arm.pairs > 0; });
    if (!grew || std::ranges::none_of(arms, IsOpen)) break;
  }
  TakeScreened(std::move(arms), took_s);
  return {};
}

// Decides what needs no run of its own; the others go on from the pairs that they have.
void TrialOrder::TakeScreened(std::vector<BlockArm> arms, double took_s) {
  const auto quicker = QuickerValues(arms);
  for (BlockArm& arm : arms) {
    const auto found = std::ranges::find(pending_, arm.fix, [](const Candidate& of) { return of.item.ToString(); });
    const auto contest = NotWorthARun(arm, plan_.options.pairs);
    const auto better = quicker.find(arm.fix);
    if (found == pending_.end() || (!contest && !arm.does_not_apply && better == quicker.end())) {
      plan_.screened.insert({arm.fix, std::move(arm)});
      continue;
    }
    Decision decision{.item = found->item, .predicted = found->predicted, .alone = true, .live = true};
    if (contest)
      plan_.judge.Conclude(*contest, decision);
    else if (better != quicker.end())
      decision.outcome = FixOutcome::kTooSmall, decision.reason = better->second;
    else
      decision.outcome = FixOutcome::kDoesNotApply, decision.reason = arm.refusal;
    decision.took_s = took_s / static_cast<double>(arms.size());
    trials_.Settle(std::move(decision));
    pending_.erase(found);
    ++plan_.done;
  }
}

}  // namespace gapless::internal
