// SPDX-License-Identifier: Apache-2.0
// The optimiser fills gradients with zeros, one kernel for each parameter, instead of dropping them. The affected time
// is the device's work and idle time during Optimizer.zero_grad, if that launches kernels. With set_to_none=True
// nothing is launched: the kernels go, and the idle time but for what the loop over parameters takes on the host. The
// backward pass then writes the gradients where it added to the zeros, which is not counted. Half of it at least, nine
// tenths probably, all at most.
#include <algorithm>
#include <cmath>

#include "analyses/rows/optimizer_steps.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/optimizer_calls.h"
#include "diagnose/rule.h"

namespace gapless::internal::zero_grad_rule {
namespace {

// As for the optimizer's update (unfused_optimizer): the cure is a change of one line.
constexpr double kZeroGradShare = 0.03;

constexpr std::string_view kNeeds[] = {"ledger", "optimizer_steps"};

Evidence EvidenceOf(const OptimizerStepsRows& steps, const RowGroup& place, const LedgerView& ledger) {
  const size_t row = place.first();
  const std::string line = TextOr(steps, row, "source_line", "");
  const int64_t calls = std::max<int64_t>(1, SumOver(steps, place, "calls"));
  const int64_t busy = SumOver(steps, place, "device_ns");
  return {.text = StrCat(steps.Text(row, "name"), InLine(line), ": ",
                         FormatCount(std::llround(steps.Real(row, "kernels_per_call"))),
                         " kernels a call that write zeros; ", FormatDuration(SumOver(steps, place, "host_ns") / calls),
                         " of host time, GPU busy for ", ledger.CostText(busy), ", idle for ",
                         ledger.CostText(place.value - busy)),
          .value = static_cast<double>(place.value),
          .unit = "ns",
          .table = "slice",
          .rows = IdsOf(steps, place.rows, "slice_id"),
          .source = line};
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const auto steps = tables.Get<OptimizerStepsRows>();
  const OptimizerCalls fills = CollectOptimizerCalls(steps, ledger, [&](size_t row) {
    return steps.Text(row, "name").starts_with("Optimizer.zero_grad#") && steps.Int(row, "kernels") > 0;
  });
  const double share = ledger.Share(fills.stake());
  if (share < kZeroGradShare) return std::vector<Bottleneck>{};
  const size_t first = fills.places[0].first();
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("filling gradients with zeros takes ", ledger.CostText(fills.stake()));
  found.description = StrCat("For ", FormatPercent(share), " of the time ", OptimizerIn(steps.Text(first, "name")),
                             ".zero_grad writes zeros for the backward pass to add gradients to; the GPU idles for ",
                             FormatPercent(ledger.Share(fills.idle_ns)), " of the time meanwhile.");
  for (size_t i = 0; i < fills.places.size() && i < 3; ++i)
    found.evidence.push_back(EvidenceOf(steps, fills.places[i], ledger));
  found.recommendations.push_back(
      {StrCat("drop the gradients instead of filling them with zeros (the default since PyTorch 2.0)",
              InLine(TextOr(steps, first, "source_line", ""))),
       "", "optimizer.zero_grad(set_to_none=True)", "minutes"});
  const auto stake = static_cast<double>(fills.stake());
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = stake * 0.5,
                             .expected_ns = stake * 0.9,
                             .high_ns = stake,
                             .confidence = 0.8});
  found.part_of = "launch_bound";
  return std::vector{std::move(found)};
}

}  // namespace

RULE(zero_grad) = {.id = "zero_grad",
                   .type = BottleneckType::kLaunchBound,
                   .title = "Gradients are filled with zeros instead of dropped",
                   .why =
                       "Optimizer.zero_grad calls that launch kernels: their time and idle time of the GPU meanwhile. "
                       "With set_to_none=True, the default since PyTorch 2.0, they launch none. Reported at 3 % of the "
                       "analysed time or more, as unfused_optimizer is.",
                   .saves = "½, 9/10, all of it. Part of launch_bound",
                   .needs = kNeeds,
                   .check = Check};

}  // namespace gapless::internal::zero_grad_rule
