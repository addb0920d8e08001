// SPDX-License-Identifier: Apache-2.0
// Gradients are exchanged in every Kth step only (no_sync, accumulation): the mean of K steps.
//
// Model. Of K steps one takes as long as now, and K − 1 as long as without the gradient all-reduce. The graph holds
// recorded steps and not K of them, so both are replayed, and the exchanges are then made as short as it takes for a
// step to take the mean: an exchange of a Kth of its length would hide behind the backward pass altogether. The length
// of a step grows with that of its exchanges, and ever faster (it is the longest of many paths), so that a few secants
// find it.
//
// Prior. None is needed: nothing gets faster, something is left out. The cautious case leaves a tenth of the exchange
// in the steps without one, where hooks and buffers still have their cost.
//
// Trial. Gradients are exchanged once per step instead of in every backward pass. With a value an update may lack
// exchanges that it had, which is another training. The value 0, which is not proposed, leaves the exchange out
// altogether: optimize/exchange_cost.h measures with it.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/strings.h"
#include "fixes/names.h"
#include "predict/fix.h"
#include "predict/fixes/common/collectives.h"
#include "predict/fixes/common/edits.h"
#include "predict/fixes/common/values.h"

namespace gapless::internal::nosync_fix {
namespace {

constexpr int kRounds = 8;
constexpr double kClose = 1e-3;  // convergence limit, as a fraction of the difference

class Scaling {
 public:
  Scaling(const WhatIfInput& input, const EdgeTimes& times, const std::vector<Collective>& gradients)
      : input_(input), times_(times), is_gradient_(input.trace().gpu_ops.size()) {
    for (const Collective& collective : gradients) is_gradient_[collective.op] = 1;
  }
  void Apply(EdgeTimes& times, double share) const {
    times.ScaleOps([&](uint32_t op) { return is_gradient_[op] != 0 ? share : 1.0; });
  }
  double StepWith(double share) const {
    EdgeTimes scaled = times_;
    Apply(scaled, share);
    return static_cast<double>(StepNs(input_, scaled).value_or(0));
  }
  // The share of the exchanges' length with which a step takes `target`, between those of `without` and `with`.
  double Find(double target, double without, double with) const {
    double low = 0, high = 1, low_ns = without, high_ns = with;
    for (int round = 0; round < kRounds && high_ns - low_ns > kClose * (with - without); ++round) {
      const double secant = low + (high - low) * (target - low_ns) / (high_ns - low_ns), middle = (low + high) / 2;
      const double share = round % 2 == 0 ? secant : middle, ns = StepWith(share);
      (ns < target ? low : high) = share, (ns < target ? low_ns : high_ns) = ns;
    }
    return high_ns > low_ns ? low + (high - low) * (target - low_ns) / (high_ns - low_ns) : high;
  }

 private:
  const WhatIfInput& input_;
  const EdgeTimes& times_;
  std::vector<uint8_t> is_gradient_;  // by operation
};

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& item, Estimate estimate, EdgeTimes& times) {
  GAPLESS_ASSIGN(const auto every, item.Count());
  const Collectives collectives = FindCollectives(input);
  const std::vector<Collective> gradients = collectives.Gradients();
  ExchangeText text = CheckGradients(collectives, gradients, false);
  WhatIfEffect effect{.refusal = std::move(text.refusal), .no_effect = std::move(text.no_effect)};
  const auto steps = static_cast<double>(every.value_or(1));
  if (steps == 1 && effect.refusal.empty()) effect.no_effect = "every step exchanges its gradients already";
  if (!effect.refusal.empty() || !effect.no_effect.empty()) return effect;
  const Scaling scaling(input, times, gradients);
  const double with = scaling.StepWith(1), without = scaling.StepWith(ValueFor(estimate, 0.1, 0, 0));
  if (with > without) {
    const double target = (with + (steps - 1) * without) / steps;
    scaling.Apply(times, scaling.Find(target, scaling.StepWith(0), with));
  }
  if (std::string of = AssumptionOfGradients(collectives); !of.empty()) effect.assumptions.push_back(std::move(of));
  effect.assumptions.push_back(
      StrCat("gradients add up over ", steps, " steps, so that a batch between two updates is that much larger"));
  return effect;
}

FixValues Values(const FixContext& context) {
  if (context.ranks < 2) return NoneBecause("one rank trains on this machine");
  return FixValues{.values = {""}};
}

bool Accepts(std::string_view value) { return value == "0" || IsWhole(value, 2, 65536); }
constexpr std::string_view kCures[] = {"exposed_communication", "small_collectives"};
constexpr std::string_view kConflicts[] = {fixes::kDdpStatic.name};

}  // namespace

FIX(nosync) = {
    .name = "nosync",
    .help = "Exchange gradients in the last of several backward passes",
    .safety = Safety::kRounding,
    .safety_with = [](std::string_view /*value*/) { return Safety::kTraining; },
    .model = {.value = "K",
              .why = "Gradients are exchanged in every Kth step only: the mean of K steps, replayed with and without "
                     "the exchange.",
              .apply = Apply},
    .trial = {.value = "[K]",
              .grammar = {"0 or a whole number from 2 to 65536", Accepts},
              .why = "Where a step has K backward passes, and gradients are exchanged in each of them. The first K − 1 "
                     "run under no_sync(); K is learned from the steps of the program, or given. Sums are rounded in "
                     "another order; a program that reads gradients between the passes finds those of its own rank. "
                     "The gain is at most (K − 1) / K of the exchange that is not hidden.",
              .effort = Effort::kMedium,
              .choice = {.order = 94, .cures = kCures, .conflicts = kConflicts},
              .live = {.between_steps = true},
              .values = Values}};

}  // namespace gapless::internal::nosync_fix
