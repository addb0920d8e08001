// SPDX-License-Identifier: Apache-2.0
#include "optimize/screening.h"

#include <algorithm>
#include <cmath>

namespace gapless::internal {
namespace {

constexpr double kMinBlockMs = 80;  // shorter blocks are mostly the noise of single steps
constexpr double kMinBlockSteps = 3, kMaxBlockSteps = 16;
constexpr double kShareOfTime = 0.15, kMaxSeconds = 30;

}  // namespace

std::vector<std::string> ItemsToScreen(std::span<const Candidate> candidates, FixClass allow) {
  std::vector<std::string> items;
  for (const Candidate& candidate : candidates) {
    const Fix& fix = *candidate.item.fix;
    if (fix.live && !fix.slow_start && !candidate.does_not_apply && candidate.skip.empty() &&
        candidate.item.Class() <= allow)
      items.push_back(candidate.item.ToString());
  }
  if (items.size() < 2) items.clear();
  return items;
}

BlockPlan ScreeningPlan(double step_ms, size_t warmup, double left_s, uint64_t seed) {
  const double steps = std::clamp(std::ceil(kMinBlockMs / step_ms), kMinBlockSteps, kMaxBlockSteps);
  return {.warmup = warmup,
          .block_steps = static_cast<size_t>(steps),
          .max_pairs = kMaxBlockPairs,
          .seed = seed,
          .limit_s = std::min(kMaxSeconds, kShareOfTime * left_s)};
}

std::optional<Contest> NotWorthARun(const BlockArm& arm, const PairOptions& options) {
  const auto ending = WhetherToStop(arm.sequence, kMaxBlockPairs);
  if (!arm.refusal.empty() || !ending) return std::nullopt;
  if (*ending == Ending::kDecided && arm.sequence.Verdict() == PairVerdict::kFaster) return std::nullopt;
  Contest contest(options);
  contest.sequence = arm.sequence;
  contest.ending = *ending;
  return contest;
}

}  // namespace gapless::internal
