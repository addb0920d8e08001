// SPDX-License-Identifier: Apache-2.0
// The optimiser is a for-loop over parameters, on the CPU.
//
// The gain: a fused update runs one operator where the loop runs some ten for every parameter. We expect two thirds of
// the optimiser's time to go, at least a quarter, at most nine tenths. These are assumptions, except for a measurement:
// fused AdamW on an MLP of six parameters took a quarter less of the whole step.
#include <algorithm>

#include "base/strings.h"
#include "diagnose/evidence.h"
#include "diagnose/host_step_view.h"
#include "diagnose/made_lines.h"
#include "diagnose/rule.h"
#include "diagnose/thresholds.h"
#include "fixes/names.h"

namespace gapless::internal::host_optimizer_rule {
namespace {

// Ours: the optimiser's loop over parameters, of which a fused one leaves a third or less.
constexpr double kHostOptimizerShare = 0.05;

constexpr std::string_view kNeeds[] = {"host_steps"};
constexpr std::string_view kFused[] = {"Adam", "AdamW", "SGD", "Adagrad"};

Recommendation Advise(const std::string& optimizer, const std::string& line) {
  const bool fused = std::find(std::begin(kFused), std::end(kFused), optimizer) != std::end(kFused);
  if (fused)
    return {StrCat("update all parameters with one operator: pass fused=True to ", optimizer, InLine(line)),
            fixes::kFusedOptimizer.Item(), StrCat("optimizer = torch.optim.", optimizer, "(params, ..., fused=True)"),
            "minutes"};
  return {StrCat("update all parameters with few operators: pass foreach=True", InLine(line)),
          fixes::kFusedOptimizer.Item(), "optimizer = torch.optim.<Optimizer>(params, ..., foreach=True)", "minutes"};
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const HostStepView steps(tables);
  if (!steps.applies(tables)) return std::vector<Bottleneck>{};
  const int64_t stake = steps.Sum("optimizer_ns");
  const double share = steps.Share(stake);
  const int64_t a_step = steps.Sum("optimizer_operators") / std::max<int64_t>(1, steps.Sum("steps"));
  if (share < kHostOptimizerShare || a_step < kHostOptimizerOperators) return std::vector<Bottleneck>{};
  const std::string name = steps.First("optimizer");
  const std::string line = MadeOr(LineOfOptimizer(tables.run(), name), steps.First("optimizer_line"));
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("the optimiser's loop over parameters takes ", steps.CostText(stake));
  found.description = StrCat("For ", FormatPercent(share), " of the time ", name,
                             " updates one parameter after the other, with several operators for each.");
  found.evidence.push_back(
      {.text = StrCat("Optimizer.step of ", name, " runs ", FormatCount(a_step), " operators a step"),
       .value = static_cast<double>(a_step),
       .table = "host_steps",
       .source = line});
  found.recommendations.push_back(Advise(name, line));
  const auto ns = static_cast<double>(stake);
  found.gain = steps.GainOf(ns * 0.25, ns * 2 / 3, ns * 0.9, 0.6);
  return std::vector{std::move(found)};
}

}  // namespace

RULE(host_optimizer) = {.id = "host_optimizer",
                        .type = BottleneckType::kHostBound,
                        .title = "On the CPU, the optimiser loops over its parameters",
                        .why =
                            "Time of the steps inside Optimizer.step that runs 64 operators or more, in processes that "
                            "use no GPU. Reported at 5 % of the analysed time or more.",
                        .saves = "¼, ⅔, 9/10 of it",
                        .needs = kNeeds,
                        .check = Check};

}  // namespace gapless::internal::host_optimizer_rule
