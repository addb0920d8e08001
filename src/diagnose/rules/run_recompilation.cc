// SPDX-License-Identifier: Apache-2.0
// torch.compile compiles again during the run, and the agent knows why.
#include "analyses/rows/whole_run.h"
#include "base/strings.h"
#include "diagnose/run_pause.h"
#include "diagnose/thresholds.h"

namespace gapless::internal::run_recompilation_rule {
namespace {

constexpr std::string_view kNeeds[] = {"whole_run"};
constexpr size_t kMaxReasons = 3, kMaxReasonBytes = 240;

std::string Shortened(std::string_view reason) {
  std::string text(reason.substr(0, kMaxReasonBytes));
  for (char& c : text)
    if (c == '\n') c = ' ';
  return reason.size() > kMaxReasonBytes ? text + "..." : text;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const WholeRunView run(tables);
  std::vector<Bottleneck> found =
      CheckRunPause(run, {"recompile",
                          kRecompilationShare,
                          "compiling again",
                          "compilation",
                          "compilations",
                          {"compile for changing shapes, or pad batches to few sizes", "",
                           "model = torch.compile(model, dynamic=True)  # or torch._dynamo.mark_dynamic(batch, 0); "
                           "DataLoader(..., drop_last=True)",
                           "hours"}});
  const WholeRunRows& table = run.table();
  for (Bottleneck& bottleneck : found) {
    for (const std::string_view kind : {"recompile", "graph_break"}) {
      const WholeRunSum sum = run.Sum(kind);
      for (size_t i = 0; i < sum.rows.size() && i < kMaxReasons; ++i)
        bottleneck.evidence.push_back({.text = StrCat(kind == "recompile" ? "compiled again " : "graph break ",
                                                      FormatTimes(static_cast<double>(table.Int(sum.rows[i], "calls"))),
                                                      ": ", Shortened(table.Text(sum.rows[i], "detail"))),
                                       .value = static_cast<double>(table.Int(sum.rows[i], "calls")),
                                       .table = "whole_run"});
    }
  }
  return found;
}

}  // namespace

RULE(run_recompilation) = {
    .id = "run_recompilation",
    .type = BottleneckType::kRecompilation,
    .title = "Over the whole run, torch.compile compiles again",
    .why =
        "Compilations by torch.compile of functions that were compiled before, as PyTorch's own counters report to the "
        "agent, "
        "with the guard that failed. Reported at 3 % of the steps' time or more. The first compilation of a function "
        "does not count.",
    .saves = "½, 9/10, all of it",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::run_recompilation_rule
