// SPDX-License-Identifier: Apache-2.0
// Orders candidates by expected gain per second of trial.
#include "optimize/plan_order.h"

#include <algorithm>

#include "optimize/time_budget.h"

namespace gapless::internal {
namespace {

constexpr double kMinShare = 1e-3, kMinTrialS = 1e-3;  // so that no candidate has a rate of 0 or without bounds
constexpr size_t kMinPairs = 4;                        // minimum pairs of blocks that replace the prediction

}  // namespace

// Saved share of step time per second of trial; never 0, so that candidates without an expected gain keep an
// order.
double Promise::PerSecond() const {
  return std::max(1 - 1 / std::max(speedup, 1.0), kMinShare) / std::max(trial_s, kMinTrialS);
}

Promise PromiseOf(const Candidate& candidate, const ScreenedArms& screened, double run_s, bool is_alone,
                  double slow_start_s) {
  const Fix& fix = *candidate.item.fix;
  Promise promise{.speedup = std::max(candidate.score, 1.0)};
  promise.expected = candidate.predicted ? candidate.predicted->expected : promise.speedup;
  promise.at_once = candidate.does_not_apply || !candidate.skip.empty() || !fix.own_file.empty();
  const auto found = screened.find(candidate.item.ToString());
  const BlockArm* const arm = found == screened.end() ? nullptr : &found->second;
  if (arm != nullptr && arm->sequence.size() >= kMinPairs)
    promise.speedup = promise.expected = 1 / arm->sequence.Interval().expected;
  const double slow_s = fix.trial.choice.slow_start ? slow_start_s : 0, warm_s = run_s + slow_s / 2;
  promise.later_run_s = warm_s;
  promise.trial_s = promise.min_trial_s = run_s + slow_s;
  if (!fix.trial.live.between_steps || (arm != nullptr && !arm->refusal.empty())) {
    promise.trial_s += kPairsToDecide * (run_s + warm_s);
    promise.min_trial_s += PairsToProve(promise.expected) * (run_s + warm_s);
  } else if (!is_alone || arm == nullptr || arm->sequence.Verdict() != SpeedVerdict::kFaster) {
    promise.trial_s += warm_s;
    promise.min_trial_s = promise.trial_s;
  }
  return promise;
}

bool MustWait(std::span<const Candidate> candidates, size_t index) {
  const auto after = candidates[index].item.fix->trial.choice.after;
  return std::ranges::any_of(
      candidates, [&](const Candidate& of) { return std::ranges::find(after, of.item.fix->name) != after.end(); });
}

size_t NextOf(std::span<const Candidate> candidates, const ScreenedArms& screened, double run_s, bool is_alone,
              double slow_start_s) {
  size_t best = 0;
  std::optional<Promise> best_promise;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Promise promise = PromiseOf(candidates[i], screened, run_s, is_alone, slow_start_s);
    if (promise.at_once) return i;
    if (MustWait(candidates, i)) continue;
    if (best_promise && promise.PerSecond() <= best_promise->PerSecond()) continue;
    best = i, best_promise = promise;
  }
  return best;
}

}  // namespace gapless::internal
