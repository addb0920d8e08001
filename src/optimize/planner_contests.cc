// SPDX-License-Identifier: Apache-2.0
// Implements the planner's paired comparisons: pairs of processes, blocks within processes, and checks of slow or hung
// runs.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "optimize/planner_state.h"

namespace gapless::internal {
namespace {

constexpr size_t kMinBlock = 4;      // steps
constexpr size_t kMaxProcesses = 8;  // maximum number of processes of a comparison in blocks
constexpr double kLargeGain = 1.25;  // speedup that kPairsToDecide pairs prove where processes differ by a tenth

}  // namespace

// Returns true if what the accepted fixes brought one by one is so much that few pairs prove it.
bool Contests::IsGainLarge() const {
  double gain = 1;
  for (const Decision& decision : plan_.result.decisions)
    if (decision.outcome == FixOutcome::kAccepted && decision.measured) gain *= decision.measured->expected;
  return gain >= kLargeGain;
}

Result<Contest> Contests::HoldPairs(const FixSet& a, const FixSet& b, const FixItem* item, Clock::time_point deadline,
                                    const Contest* earlier) {
  // Too little time to look after every pair: as many pairs as there is time for are looked at once.
  const auto takes = item == nullptr ? plan_.time.ProofPairTakes() : plan_.time.PairTakes();
  const auto fits = std::max<int64_t>(0, (deadline - plan_.runner.Now()) / std::max(takes, Clock::duration(1)));
  const bool is_short = item != nullptr && earlier == nullptr && fits < kPairsToDecide && fits >= kFewestPairs;
  const ContestPlan plan{.a = a,
                         .b = b,
                         .options = plan_.options.pairs,
                         .most_pairs = is_short          ? static_cast<size_t>(fits)
                                       : item != nullptr ? plan_.options.most_pairs
                                       : IsGainLarge()   ? kPairsToDecide
                                                         : kMaxPairsToProve,
                         .deadline = deadline,
                         .pair_takes = takes,
                         .seed = plan_.options.seed + 7919 * ++plan_.draws,
                         .at_once = item == nullptr || is_short,
                         .earlier = earlier};
  return RunContest(plan, plan_.runner, [&](const Contest& contest) {
    plan_.machine.Add(SteadyStepMs(contest.a.back()), a.empty() ? plan_.result.before.step_ms : plan_.current.step_ms);
    plan_.Tell({.kind = PlannerEvent::Kind::kPair, .item = item, .contest = &contest});
  });
}

// Processes in which the fix is switched, until it is clear; it begins with the pairs of the shared process, if nothing
// else is on. `refusal`: it cannot be switched after all. `run_s`: of the first run, which may have compiled what later
// ones find; then of these.
Result<Contest> Contests::HoldBlocks(const FixItem& item, double& run_s, std::string& refusal) {
  Contest contest(plan_.options.pairs);
  std::vector<BlockArm> arms = {plan_.ArmOf(item)};
  const auto screened = plan_.screened.find(arms[0].fix);
  refusal = screened != plan_.screened.end() ? screened->second.refusal : "";
  if (!refusal.empty()) return contest;
  if (screened != plan_.screened.end() && plan_.result.accepted.empty()) arms[0].sequence = screened->second.sequence;
  const size_t block_steps = std::clamp<size_t>(plan_.steps / 8, kMinBlock, 4 * kMinBlock);
  const double blocks_s = 2.0 * kPairsToDecide * static_cast<double>(block_steps) * plan_.current.step_ms / 1e3;
  double takes_s = std::max(run_s, run_s - plan_.measured_s + blocks_s);
  const auto share = plan_.time.ShareDeadline(plan_.runner.Now(), plan_.candidates - plan_.done);
  const auto has_time = [&] {  // a fix without time for its proof is of no use
    return plan_.runner.Now() < std::min(share, plan_.time.ProofBegins(run_s)) - Lasting(takes_s);
  };
  for (size_t process = 0; process < kMaxProcesses; ++process) {
    contest.sequence = arms[0].sequence;
    if (const auto ending = EndingOf(contest.sequence, kMaxBlockPairs)) {
      contest.ending = *ending;
      return contest;
    }
    if (!has_time()) return contest;
    BlockDriver driver({.warmup = std::min(plan_.options.warmup, std::max<size_t>(1, plan_.steps / 5)),
                        .block_steps = block_steps,
                        .max_pairs = kMaxBlockPairs,
                        .seed = plan_.options.seed + 7919 * ++plan_.draws},
                       arms);
    GAPLESS_ASSIGN(auto sample, plan_.runner.RunBlocks(plan_.result.accepted, driver));
    refusal = arms[0].refusal;
    if (!refusal.empty()) return contest;
    const Fault fault = FaultOf(sample);
    if (fault == Fault::kHang && plan_.runner.Now() >= plan_.time.deadline()) return contest;
    if (fault != Fault::kNone) {
      contest.ending = Ending::kFault;
      contest.fault = DescribeFault(sample);
      if (fault == Fault::kHang) contest.hung_s = LongestSeconds({&sample, 1});
      return contest;
    }
    for (const double step_ms : driver.off_ms()) plan_.machine.Add(step_ms, plan_.current.step_ms);
    takes_s = LongestSeconds({&sample, 1});
    if (item.fix->trial.choice.slow_start) run_s = std::clamp(takes_s, std::min(plan_.time.command_s, run_s), run_s);
    contest.sequence = arms[0].sequence;
    plan_.Tell({.kind = PlannerEvent::Kind::kPair, .item = &item, .contest = &contest});
    // Without a single pair another process would show nothing more.
    if (arms[0].pairs == 0) {
      refusal = "it takes too few steps to be switched within a run";
      return contest;
    }
  }
  contest.ending = Ending::kTooSmall;
  return contest;
}

// A run that is not done in its time may have met a busy machine: then the command without the fix is as slow.
Result<void> Contests::CompareHang(double after_s, Decision& decision) {
  if (plan_.runner.Now() + plan_.time.PairTakes() / 2 > plan_.time.deadline()) {
    decision.outcome = FixOutcome::kNoTime;
    decision.reason = StrCat("not done after ", FormatDuration(static_cast<int64_t>(after_s * 1e9)),
                             ", and no time was left to see whether the machine is busy");
    return {};
  }
  GAPLESS_ASSIGN(const auto without, plan_.runner.Run(plan_.result.accepted));
  const Beside beside = CompareHungRun(after_s, plan_.time.current_s, without);
  plan_.machine.Add(SteadyStepMs(without), plan_.current.step_ms);
  plan_.met_busy_machine = beside.machine_is_busy;
  if (beside.machine_is_busy) {
    decision.outcome = FixOutcome::kNoTime;
    decision.reason = beside.words;
  } else {
    decision.reason += beside.words;
  }
  return {};
}

// A first run that looked slow: is it, beside one without the fix? If it is not, the contest decides.
Result<bool> Contests::IsSlowBeside(const RunSample& first, Decision& decision) {
  if (plan_.runner.Now() + plan_.time.PairTakes() / 2 > plan_.time.ContestDeadline()) return true;
  GAPLESS_ASSIGN(const auto without, plan_.runner.Run(plan_.result.accepted));
  if (FaultOf(without) != Fault::kNone) return true;
  plan_.machine.Add(SteadyStepMs(without), plan_.current.step_ms);
  const double limit = plan_.judge.SlowFrom();
  const Beside beside = CompareSlowRun(StageOf(first), plan_.current, StageOf(without), limit);
  decision.reason += beside.words;
  return beside.fix_is_slow;
}

}  // namespace gapless::internal
