// SPDX-License-Identifier: Apache-2.0
// Steps on the CPU are Python code, not operators: parsing, loops, bookkeeping.
//
// The gain: such code becomes operators on whole tensors, or goes to worker processes. We expect half of it to go, at
// least a fifth, at most nine tenths. Assumptions.
#include <algorithm>

#include "analyses/rows/python_functions.h"
#include "analyses/rows/python_time.h"
#include "base/strings.h"
#include "diagnose/evidence.h"
#include "diagnose/host_step_view.h"
#include "diagnose/python_view.h"
#include "diagnose/rule.h"
#include "diagnose/thresholds.h"
#include "diagnose/whole_run_view.h"

namespace gapless::internal::host_python_rule {
namespace {

constexpr std::string_view kNeeds[] = {"host_steps", "python_time", "python_functions", "whole_run"};
constexpr size_t kMaxFunctions = 3;

std::string_view BaseName(std::string_view path) {
  const size_t slash = path.find_last_of("/\\");
  return slash == path.npos ? path : path.substr(slash + 1);
}

Evidence EvidenceOf(const PythonFunction& function, const HostStepView& steps) {
  std::string text = StrCat(function.name, ": ", steps.CostText(function.self_ns), " in Python");
  if (function.calls > 0) text += StrCat(", ", FormatCounted(function.calls, "call"));
  if (!function.callee.empty())
    text += StrCat(", most of it in ", function.callee, ": ", steps.CostText(function.callee_ns));
  const bool line_is_most = 2 * function.line_ns >= function.self_ns;
  return {.text = std::move(text),
          .value = static_cast<double>(function.self_ns),
          .unit = "ns",
          .table = "python_time",
          .source = line_is_most ? function.line : function.name};
}

// Returns the functions of the user's code from a profile of the whole run, for recordings without stacks.
std::vector<Evidence> EvidenceOfProfile(const PythonFunctionsRows& functions) {
  std::vector<Evidence> all;
  for (size_t row = 0; row < functions.rows() && all.size() < kMaxFunctions; ++row) {
    const std::string name(functions.Text(row, "function"));
    if (functions.Int(row, "is_users") == 0 || name.starts_with('<')) continue;  // a comprehension is no place
    std::string text =
        StrCat(name, " (", BaseName(functions.Text(row, "file")), ", from line ", functions.Int(row, "line"),
               "): ", FormatDuration(functions.Int(row, "self_ns")), " of its own time over the run");
    if (!functions.IsNull(row, "calls")) text += StrCat(", ", FormatCounted(functions.Int(row, "calls"), "call"));
    all.push_back({.text = std::move(text),
                   .value = static_cast<double>(functions.Int(row, "self_ns")),
                   .unit = "ns",
                   .table = "python_functions",
                   .source = StrCat(name, "() (", BaseName(functions.Text(row, "file")), ")")});
  }
  return all;
}

int64_t StakeOf(const HostStepView& steps, const std::vector<PythonFunction>& functions, const PythonFunction& asleep) {
  if (functions.empty()) return steps.Sum("python_ns") - asleep.self_ns;
  int64_t stake = 0;
  for (const PythonFunction& function : functions) stake += function.self_ns;
  return std::min(stake, steps.Sum("python_ns"));
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const HostStepView steps(tables);
  if (!steps.applies(tables)) return std::vector<Bottleneck>{};
  if (steps.Sum("operators") == 0) return std::vector<Bottleneck>{};  // no operator was recorded: all seems Python
  const auto time = tables.Get<PythonTimeRows>();
  const std::vector<PythonFunction> functions = PythonFunctions(time);
  // Without stacks or a profile nobody knows whether Python ran, or the thread waited for another one.
  if (functions.empty() && tables.Get<PythonFunctionsRows>().rows() == 0) return std::vector<Bottleneck>{};
  const int64_t python_ns = StakeOf(steps, functions, Asleep(tables, steps.Sum("wall_ns")));
  const int64_t stake = std::max<int64_t>(0, python_ns - steps.CallingPythonNs());
  const double share = steps.Share(stake);
  if (share < kHostPythonShare) return std::vector<Bottleneck>{};
  Bottleneck found;
  for (size_t i = 0; i < functions.size() && i < kMaxFunctions; ++i)
    if (i == 0 || 20 * functions[i].self_ns >= stake) found.evidence.push_back(EvidenceOf(functions[i], steps));
  if (functions.empty()) found.evidence = EvidenceOfProfile(tables.Get<PythonFunctionsRows>());
  const std::string most = !functions.empty()       ? functions[0].name
                           : found.evidence.empty() ? ""
                                                    : found.evidence[0].source;
  found.share_of_step = share;
  found.part_of = WholeRunView(tables).WholeOfHostCode(share);
  found.title = StrCat("Python code takes ", steps.CostText(stake), most.empty() ? "" : ", most of it in ", most);
  found.description = StrCat("For ", FormatPercent(share),
                             " of the time the training process runs Python code: no operator runs, and no batch, "
                             "checkpoint or other rank is waited for.");
  found.evidence.push_back({.text = StrCat("Python between operators: ", FormatPercent(share), " of the steps' time"),
                            .value = share,
                            .unit = "share",
                            .table = "host_steps"});
  const std::string line = found.evidence[0].source;
  found.recommendations.push_back({StrCat("work on whole tensors instead of single values", InLine(line)), "",
                                   "torch.as_tensor(values).mul_(scale)  # for [value * scale for value in values]",
                                   "hours"});
  found.recommendations.push_back({StrCat("move work on the inputs into the workers of the data loader", InLine(line)),
                                   "", "DataLoader(dataset, ..., num_workers=2)  # and do it in dataset.__getitem__",
                                   "hours"});
  found.recommendations.push_back(
      {StrCat("do it less often than in every step, where the program does not need its result", InLine(line)), "", "",
       "minutes"});
  const auto ns = static_cast<double>(stake);
  found.gain = steps.GainOf(ns * 0.2, ns * 0.5, ns * 0.9, 0.4);
  return std::vector{std::move(found)};
}

}  // namespace

RULE(host_python) = {
    .id = "host_python",
    .type = BottleneckType::kHostBound,
    .title = "On the CPU, steps are Python code more than operators",
    .why =
        "Of processes that use no GPU: time of the steps in which no operator runs and nothing is waited for, without "
        "time asleep, and without what calls of tiny operators need: host_operators is about those. Reported at 25 % "
        "of "
        "the analysed time or more. Names the functions with most of it, by recorded stacks or a profile of the Python "
        "code.",
    .saves = "1/5, ½, 9/10 of it",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::host_python_rule
