// SPDX-License-Identifier: Apache-2.0
// Implements Plan() over the parts of planner_state.h.
#include "optimize/planner.h"

#include <algorithm>
#include <span>
#include <utility>

#include "optimize/planner_state.h"

namespace gapless::internal {
namespace {

// All phases, one after the other; each is over when its time is.
Result<void> RunPhases(const std::vector<Candidate>& candidates, PlanState& plan) {
  Contests contests(plan);
  Trials trials(plan, contests);
  TrialOrder order(plan, contests, trials);
  GAPLESS_TRY(order.TryAll(candidates));
  GAPLESS_TRY(order.GoOnWithUndecided());
  GAPLESS_TRY(order.SpendWhatIsLeft());
  Proof proof(plan, contests);
  GAPLESS_TRY(proof.TakeOutWhatIsIdle());
  return proof.ProveTheWhole();
}

}  // namespace

// The time for recording the first steps does not count: later runs do not record.
double LongestSeconds(std::span<const RunSample> runs) {
  int64_t longest_ns = 0;
  for (const RunSample& run : runs) longest_ns = std::max(longest_ns, run.wall_ns - run.parity_ns);
  return static_cast<double>(longest_ns) / 1e9;
}

bool IsProved(const Optimized& result) {
  return !result.accepted.empty() && result.speedup && result.speedup->low && *result.speedup->low > 1 &&
         result.against.empty();
}

Result<Optimized> Plan(const std::vector<Candidate>& candidates, const PlannerOptions& options, JobRunner& runner,
                       DecisionKeeper& keeper, const std::function<void(const PlannerEvent&)>& on_event) {
  PlanState plan(options, runner, keeper, on_event);
  plan.result.inference = options.inference;
  GAPLESS_TRY(Baseline(plan).Measure());
  runner.EndBy(plan.time.deadline());
  if (const auto done = RunPhases(candidates, plan); !done) {
    if (done.error().code != ErrorCode::kInterrupted) return Unexpected{done.error()};
    plan.result.interrupted = true;
  }
  ListAhead(plan);
  StageByGains(plan.result.before, plan.proved, plan.result.decisions);
  if (const std::string busy = plan.machine.Warning(); !busy.empty()) plan.result.warnings.push_back(busy);
  plan.result.took_s = Seconds(runner.Now() - options.begun);
  plan.result.budget_s = options.budget_s;
  return std::move(plan.result);
}

}  // namespace gapless::internal
