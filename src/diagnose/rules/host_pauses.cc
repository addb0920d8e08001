// SPDX-License-Identifier: Apache-2.0
// Steps on the CPU pause: for garbage collection, checkpoints, compilation.
//
// The gain: most of it goes when these happen rarely (expected nine tenths, at least half, at most all). Assumptions.
#include <algorithm>
#include <array>

#include "analyses/rows/host_events.h"
#include "analyses/rows/host_steps.h"
#include "base/strings.h"
#include "diagnose/host_event_view.h"
#include "diagnose/host_step_view.h"
#include "diagnose/rule.h"
#include "diagnose/whole_run_view.h"

namespace gapless::internal::host_pauses_rule {
namespace {

// Ours: pauses (garbage collection, checkpoints, compilation) are looked at from 3 % of the steps.
constexpr double kHostPausesShare = 0.03;

constexpr std::string_view kNeeds[] = {"host_steps", "host_events", "whole_run"};

struct Pause {
  HostStepsRows::IntColumn column;
  std::string_view kind, what, advice, code;
};
constexpr Pause kPauses[] = {
    {"save_ns", "checkpoint_save", "writing checkpoints", "write checkpoints less often, or from another thread",
     "if step % 1000 == 0: torch.save(...)"},
    {"gc_ns", "garbage_collection", "Python's garbage collection", "collect garbage by hand and rarely",
     "gc.collect(); gc.freeze(); gc.disable()  # once, before the loop\nif step % 1000 == 0: gc.collect()"},
    {"compile_ns", "compilation", "compiling",
     "find out what makes it compile again: TORCH_LOGS=recompiles,graph_breaks", ""},
};

const Pause& Largest(const HostStepView& steps) {
  return *std::max_element(std::begin(kPauses), std::end(kPauses),
                           [&](const Pause& a, const Pause& b) { return steps.Sum(a.column) < steps.Sum(b.column); });
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const HostStepView steps(tables);
  // Rules of the whole run know how often it happens.
  if (!steps.applies(tables) || WholeRunView(tables).knows()) return std::vector<Bottleneck>{};
  const Pause& pause = Largest(steps);
  const int64_t stake = steps.Sum(pause.column);
  const double share = steps.Share(stake);
  if (share < kHostPausesShare) return std::vector<Bottleneck>{};
  const std::array<std::string_view, 1> kinds{pause.kind};
  const auto events = tables.Get<HostEventsRows>();
  const HostEventSum sum = SumHostEvents(events, LedgerView{}, kinds);
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat(pause.what, " takes ", steps.CostText(stake));
  found.description = StrCat("For ", FormatPercent(share), " of the time the process is busy with ", pause.what, ".");
  found.evidence = EventEvidence(events, sum.rows);
  found.evidence.push_back({.text = StrCat(pause.what, ": ", FormatPercent(share), " of the steps' time"),
                            .value = share,
                            .unit = "share",
                            .table = "host_steps",
                            .source = LineOf(events, sum)});
  found.recommendations.push_back({std::string(pause.advice), "", std::string(pause.code), "minutes"});
  const auto ns = static_cast<double>(stake);
  found.gain = steps.GainOf(ns * 0.5, ns * 0.9, ns, 0.6);
  return std::vector{std::move(found)};
}

}  // namespace

RULE(host_pauses) = {
    .id = "host_pauses",
    .type = BottleneckType::kHostBound,
    .title = "Steps on the CPU pause for garbage, checkpoints or compilation",
    .why =
        "Of processes that use no GPU: time of the steps in torch.save, Python's garbage collector and torch.compile; "
        "the largest of the three is named. Reported at 3 % of the analysed time or more.",
    .saves = "½, 9/10, all of it",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::host_pauses_rule
