// SPDX-License-Identifier: Apache-2.0
// Selects the fixes to screen, plans the shared run, and rejects those that are slower or show no gain.
#include "optimize/screening.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr double kMinBlockMs = 80;  // shorter blocks are mostly the noise of single steps
constexpr double kMinBlockSteps = 3, kMaxBlockSteps = 16;
constexpr double kShareOfTime = 0.15, kMaxSeconds = 30;

}  // namespace

// Leaves out fixes with a slow start: their compilation would take the time of all the others.
std::vector<FixItem> ItemsToScreen(std::span<const Candidate> candidates, Safety allow) {
  std::vector<FixItem> items;
  for (const Candidate& candidate : candidates) {
    const Fix& fix = *candidate.item.fix;
    if (fix.trial.live.between_steps && !fix.trial.choice.slow_start && !candidate.does_not_apply &&
        candidate.skip.empty() && candidate.item.Class() <= allow)
      items.push_back(candidate.item);
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
  const auto ending = EndingOf(arm.sequence, kMaxBlockPairs);
  if (!arm.refusal.empty() || !ending) return std::nullopt;
  if (*ending == Ending::kDecided && arm.sequence.Verdict() == SpeedVerdict::kFaster) return std::nullopt;
  Contest contest(options);
  contest.sequence = arm.sequence;
  contest.ending = *ending;
  return contest;
}

std::map<std::string, std::string, std::less<>> QuickerValues(std::span<const BlockArm> arms) {
  const auto fix_of = [](const BlockArm& arm) { return std::string_view(arm.fix).substr(0, arm.fix.find('=')); };
  const auto time_of = [](const BlockArm& arm) { return arm.sequence.Interval().expected; };
  std::map<std::string, std::string, std::less<>> quicker;
  for (const BlockArm& arm : arms) {
    if (!arm.refusal.empty() || arm.sequence.size() < kMinScreenedPairs) continue;
    const BlockArm* best = nullptr;
    for (const BlockArm& other : arms)
      if (&other != &arm && fix_of(other) == fix_of(arm) && other.sequence.Verdict() == SpeedVerdict::kFaster &&
          time_of(other) < time_of(best == nullptr ? arm : *best))
        best = &other;
    if (best != nullptr)
      quicker[arm.fix] = StrCat("another value was quicker in blocks of one run: ", best->fix, " ",
                                FormatNumber(1 / time_of(*best), 2), "x as fast as without, this one ",
                                FormatNumber(1 / time_of(arm), 2), "x");
  }
  return quicker;
}

}  // namespace gapless::internal
