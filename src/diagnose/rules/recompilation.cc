// SPDX-License-Identifier: Apache-2.0
// torch.compile compiles again in steps that should only run.
//
// The first complete step of the recording is left out: it may be the first of the run. What is compiled later was
// compiled because a guard failed: a shape, a Python value, a grad mode changed. The gain: with stable guards all of it
// goes (high); we expect nine tenths of the idle time, at least half where shapes really change and are bucketed.
#include <set>

#include "analyses/rows/host_events.h"
#include "base/strings.h"
#include "diagnose/evidence.h"
#include "diagnose/host_event_view.h"
#include "diagnose/rule.h"
#include "diagnose/thresholds.h"
#include "diagnose/whole_run_view.h"

namespace gapless::internal::recompilation_rule {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "host_events", "whole_run"};
constexpr std::string_view kCompiling[] = {"compilation", "graph_recording"};

// Shows how many distinct compiled pieces ran: "Torch-Compiled Region: 2/0" is version 0 of piece 2. More than one
// piece of a model means graph breaks between them, a version above 0 that a piece was compiled before.
std::vector<Evidence> RegionEvidence(const HostEventsRows& events) {
  std::set<std::string_view> pieces;
  std::string recompiled;
  std::vector<int64_t> slices;
  for (size_t row = 0; row < events.rows(); ++row) {
    if (events.Text(row, "kind") != "compiled_region") continue;
    const std::string_view name = events.Text(row, "name");
    const size_t colon = name.find(": "), slash = name.rfind('/');
    if (colon == name.npos || slash == name.npos) continue;
    pieces.insert(name.substr(colon + 2, slash - colon - 2));
    if (name.substr(slash + 1) != "0") recompiled += StrCat(recompiled.empty() ? "" : ", ", name.substr(colon + 2));
    if (slices.size() < kMaxRows) slices.push_back(events.Int(row, "slice_id"));
  }
  std::vector<Evidence> all;
  if (pieces.empty()) return all;
  all.push_back({.text = StrCat(FormatCount(static_cast<int64_t>(pieces.size())),
                                pieces.size() == 1 ? " compiled piece runs"
                                                   : " compiled pieces run, with graph breaks between them",
                                recompiled.empty() ? "" : "; compiled more than once: ", recompiled),
                 .value = static_cast<double>(pieces.size()),
                 .table = "slice",
                 .rows = std::move(slices)});
  return all;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  if (WholeRunView(tables).knows()) return std::vector<Bottleneck>{};  // run_recompilation knows how often it happens
  const LedgerView& ledger = ReadLedger(tables);
  const auto events = tables.Get<HostEventsRows>();
  const HostEventSum sum = SumHostEvents(events, ledger, kCompiling);
  const double share = ledger.Share(sum.later_idle_ns);
  if (share < kRecompilationShare) return std::vector<Bottleneck>{};
  Bottleneck found;
  found.share_of_step = share;
  found.part_of = "host_bound";
  found.title = StrCat("the GPU waits ", ledger.CostText(sum.later_idle_ns), " while code is compiled again");
  found.description =
      StrCat("For ", FormatPercent(share),
             " of the time the GPU is idle while torch.compile compiles in steps after the first recorded one: ",
             FormatTimes(static_cast<double>(sum.later_calls)), ", ", FormatDuration(sum.later_total_ns),
             " of host time", InLine(LineOf(events, sum)), ".");
  found.evidence = EventEvidence(events, sum.rows);
  for (Evidence& event : RegionEvidence(events)) found.evidence.push_back(std::move(event));
  found.recommendations.push_back(
      {"find the guard that fails", "", "TORCH_LOGS=recompiles,graph_breaks python script.py", "minutes"});
  found.recommendations.push_back(
      {"compile for changing shapes, or pad batches to few sizes", "",
       "model = torch.compile(model, dynamic=True)  # or torch._dynamo.mark_dynamic(batch, 0); "
       "DataLoader(..., drop_last=True)",
       "hours"});
  found.gain = GainOfIdle(ledger, sum.later_idle_ns, 0.9, 0.6);
  return std::vector{std::move(found)};
}

}  // namespace

RULE(recompilation) = {.id = "recompilation",
                       .type = BottleneckType::kRecompilation,
                       .title = "torch.compile compiles again in the middle of training",
                       .why =
                           "Idle time of the GPU while TorchDynamo, Inductor or Triton compile, or a CUDA graph is "
                           "recorded, in complete steps after the first recorded one (PyTorch's '(dynamo_timed)' "
                           "annotations and compiler frames; cache look-ups are not compilation). Reported at 3 % of "
                           "the analysed time or more. Counts compiled pieces, which show graph breaks.",
                       .saves = "½, 9/10, all of it. Part of host_bound",
                       .needs = kNeeds,
                       .check = Check};

}  // namespace gapless::internal::recompilation_rule
