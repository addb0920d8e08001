// SPDX-License-Identifier: Apache-2.0
// The optimiser is a for-loop over parameters, with kernels for each parameter. The affected time is the device's work
// and idle time during Optimizer.step, if that is a for-loop over the parameters. The gain: one kernel for many tensors
// leaves nothing to wait for, so most idle time goes (half at least, eight tenths probably, all at most); of the
// kernels' own time a fused update saves what its operators read and write in between: Adam's loop moves about three
// times what the fused kernel does, SGD's twice. None of it at least, half probably, two thirds at most.
#include <algorithm>
#include <cmath>
#include <span>

#include "analyses/rows/optimizer_steps.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/made_lines.h"
#include "diagnose/optimizer_calls.h"
#include "diagnose/row_groups.h"
#include "diagnose/rule.h"
#include "fixes/names.h"

namespace gapless::internal::unfused_optimizer_rule {
namespace {

// Karpathy's GPT-2 series gained 3 % of the step from the fused optimizer where foreach was in use before.
constexpr double kUnfusedOptimizerShare = 0.03;

constexpr std::string_view kNeeds[] = {"ledger", "optimizer_steps"};
constexpr int64_t kManyKernels = 32;  // a call; fewer are no loop worth a word

OptimizerCalls Collect(const OptimizerStepsRows& steps, const LedgerView& ledger) {
  return CollectOptimizerCalls(steps, ledger, [&](size_t row) {
    return steps.Text(row, "name").starts_with("Optimizer.step#") && steps.Text(row, "implementation") == "loop" &&
           steps.Real(row, "kernels_per_call") >= kManyKernels;
  });
}

Evidence EvidenceOf(const Run& run, const OptimizerStepsRows& steps, const RowGroup& place, const LedgerView& ledger) {
  const size_t row = place.first();
  const std::string line =
      MadeOr(LineOfOptimizer(run, OptimizerIn(steps.Text(row, "name"))), TextOr(steps, row, "source_line", ""));
  const int64_t calls = std::max<int64_t>(1, SumOver(steps, place, "calls"));
  const int64_t busy = SumOver(steps, place, "device_ns");
  return {.text = StrCat(steps.Text(row, "name"), InLine(line), ": ",
                         FormatCount(std::llround(steps.Real(row, "kernels_per_call"))),
                         " kernels a call, one operator after the other "
                         "for each parameter; ",
                         FormatDuration(SumOver(steps, place, "host_ns") / calls), " of host time, GPU busy for ",
                         ledger.CostText(busy), ", idle for ", ledger.CostText(place.value - busy)),
          .value = static_cast<double>(place.value),
          .unit = "ns",
          .table = "slice",
          .rows = IdsOf(steps, place.rows, "slice_id"),
          .source = line};
}

bool IsOneOf(std::string_view name, std::span<const std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// PyTorch has fused kernels for some of its optimisers, lists of tensors for the others.
Recommendation AdviceFor(const std::string& name, const std::string& made) {
  static constexpr std::string_view kFused[] = {"Adam", "AdamW", "SGD"};
  static constexpr std::string_view kForeach[] = {"Adadelta", "Adagrad", "Adamax",  "ASGD",
                                                  "NAdam",    "RAdam",   "RMSprop", "Rprop"};
  if (IsOneOf(name, kFused))
    return {StrCat("update all parameters with one kernel: pass fused=True to ", name, InLine(made)),
            fixes::kFusedOptimizer.Item(), StrCat("optimizer = torch.optim.", name, "(params, ..., fused=True)"),
            "minutes"};
  if (IsOneOf(name, kForeach))
    return {StrCat("update all parameters with few kernels: pass foreach=True to ", name, InLine(made)),
            fixes::kFusedOptimizer.Item(), StrCat("optimizer = torch.optim.", name, "(params, ..., foreach=True)"),
            "minutes"};
  return {StrCat("update all parameters with few kernels: let ", name, " work on lists of tensors, or compile its step",
                 InLine(made)),
          fixes::kFusedOptimizer.Item(), "step = torch.compile(optimizer.step)", "hours"};
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const auto steps = tables.Get<OptimizerStepsRows>();
  const OptimizerCalls loops = Collect(steps, ledger);
  const double share = ledger.Share(loops.stake());
  if (share < kUnfusedOptimizerShare) return std::vector<Bottleneck>{};
  const size_t first = loops.places[0].first();
  const std::string name = OptimizerIn(steps.Text(first, "name"));
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("the optimiser's loop over parameters takes ", ledger.CostText(loops.stake()));
  found.description = StrCat("For ", FormatPercent(share), " of the time ", name,
                             " updates one parameter after the other; meanwhile the GPU idles for ",
                             FormatPercent(ledger.Share(loops.idle_ns)), " of the time meanwhile.");
  for (size_t i = 0; i < loops.places.size() && i < 3; ++i)
    found.evidence.push_back(EvidenceOf(tables.run(), steps, loops.places[i], ledger));
  found.recommendations.push_back(AdviceFor(name, LineOfOptimizer(tables.run(), name)));
  const auto idle = static_cast<double>(loops.idle_ns), busy = static_cast<double>(loops.device_ns);
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = idle * 0.5,
                             .expected_ns = idle * 0.8 + busy * 0.5,
                             .high_ns = idle + busy * 2 / 3,
                             .confidence = 0.7});
  found.part_of = "launch_bound";
  return std::vector{std::move(found)};
}

}  // namespace

RULE(unfused_optimizer) = {
    .id = "unfused_optimizer",
    .type = BottleneckType::kLaunchBound,
    .title = "The optimiser is a for-loop over parameters, not fused or foreach",
    .why =
        "Time and idle time of the GPU during Optimizer.step calls that launch at least 32 kernels, most of them for "
        "single tensors (no _foreach_, no _fused_, no multi_tensor). Reported at 3 % of the analysed time or more: in "
        "the published GPT-2 series, the fused optimiser saved that much over foreach.",
    .saves =
        "½ of the idle time; 8/10 of it and half of the kernels; all of it and ⅔ of the kernels. Part of launch_bound",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::unfused_optimizer_rule
