// SPDX-License-Identifier: Apache-2.0
// CPU time goes into calling many tiny operators. The affected time is Python between operators, and PyTorch's own time
// for each call. The gain: compiled, neighbouring operators become one, and so do their calls. We expect half of it to
// go, at least a tenth, at most nine tenths. Assumptions.
#include <algorithm>

#include "base/strings.h"
#include "diagnose/host_step_view.h"
#include "diagnose/rule.h"
#include "diagnose/thresholds.h"
#include "diagnose/whole_run_view.h"
#include "fixes/names.h"

namespace gapless::internal::host_operators_rule {
namespace {

constexpr std::string_view kNeeds[] = {"host_steps", "whole_run"};

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const HostStepView steps(tables);
  if (!steps.applies(tables)) return std::vector<Bottleneck>{};
  const int64_t operators = steps.Sum("operators") - steps.Sum("optimizer_operators");
  const int64_t a_step = operators / std::max<int64_t>(1, steps.Sum("steps"));
  if (!steps.HasTinyOperators()) return std::vector<Bottleneck>{};
  const int64_t inside_ns = steps.Sum("operator_ns"), mean_ns = inside_ns / operators;
  const int64_t calls = std::max(operators, steps.Sum("calls")), call_ns = steps.CallNs();
  const int64_t stake = steps.CallingPythonNs() + std::min(inside_ns, calls * call_ns);
  const double share = steps.Share(stake);
  if (share < kHostPythonShare) return std::vector<Bottleneck>{};
  Bottleneck found;
  found.share_of_step = share;
  found.part_of = WholeRunView(tables).WholeOfHostCode(share);
  found.title = StrCat("calling ", FormatCount(a_step), " tiny operators takes ", steps.CostText(stake));
  found.description =
      StrCat("A step runs ", FormatCount(a_step), " operators of ", FormatDuration(mean_ns), " on average; ",
             FormatPercent(share), " of its time goes into calling them and into the Python code between them.");
  found.evidence.push_back({.text = StrCat("operators take ", FormatDuration(mean_ns), " on average"),
                            .value = static_cast<double>(mean_ns),
                            .unit = "ns",
                            .table = "host_steps",
                            .source = steps.First("operator_line")});
  found.recommendations.push_back({"work on larger tensors at once instead of looping over small ones", "",
                                   "torch.vmap(of_row)(batch)  # for torch.stack([of_row(row) for row in batch])",
                                   "hours"});
  found.recommendations.push_back({"compile the model, which joins small operators", fixes::kCompile.Item(),
                                   "model = torch.compile(model)", "minutes"});
  const auto ns = static_cast<double>(stake);
  found.gain = steps.GainOf(ns * 0.1, ns * 0.5, ns * 0.9, 0.4);
  return std::vector{std::move(found)};
}

}  // namespace

RULE(host_operators) = {
    .id = "host_operators",
    .type = BottleneckType::kHostBound,
    .title = "CPU time goes into calling many tiny operators",
    .why =
        "Of processes that use no GPU: time of the steps in which no operator runs and nothing is waited for, up to 20 "
        "µs an operator (more is code of another purpose, which host_python is about), and for each operator, nested "
        "ones too, what calling one takes: the recording's median of operators that only make a "
        "view, else 1.5 µs. Looked at where a step runs 64 outermost operators or more, the optimiser's left out, that "
        "take 10 such calls or less on average. Reported at 25 % of the analysed time or more.",
    .saves = "1/10, ½, 9/10 of it",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::host_operators_rule
