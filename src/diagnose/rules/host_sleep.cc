// SPDX-License-Identifier: Apache-2.0
// The training process sleeps in its steps.
//
// The gain: sleeping that nobody needs goes completely (high and expected); where it waits for something, most of it
// stays (low: a tenth). Assumptions.
#include "analyses/rows/host_time.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/host_step_view.h"
#include "diagnose/ledger_view.h"
#include "diagnose/python_view.h"
#include "diagnose/rule.h"

namespace gapless::internal::host_sleep_rule {
namespace {

// Ours: as for the data loader, because a sleep is another wait in which nothing computes.
constexpr double kHostSleepShare = 0.05;

constexpr std::string_view kNeeds[] = {"host_steps", "python_time", "python_functions",
                                       "whole_run",  "ledger",      "host_time"};

// Idle time of devices while the launching thread sleeps.
int64_t IdleNs(const HostTimeRows& host_time, const LedgerView& ledger) {
  int64_t idle_ns = 0;
  for (size_t row = 0; row < host_time.rows(); ++row)
    if (TextOr(host_time, row, "name", "").starts_with("<built-in function sleep>"))
      idle_ns += host_time.Int(row, "idle_ns");
  return ledger.total.wall_ns > 0 ? idle_ns : 0;
}

Bottleneck Describe(const PythonFunction& asleep, double share, const std::string& title, const std::string& cost) {
  const std::string where = asleep.line.empty() ? asleep.name : asleep.line;
  Bottleneck found;
  found.share_of_step = share;
  found.title = title;
  found.description = StrCat("For ", FormatPercent(share), " of the time the training process sleeps", InLine(where),
                             ", and does nothing else meanwhile.");
  found.evidence.push_back({.text = StrCat("time.sleep: ", FormatCounted(asleep.calls, "call"), ", ", cost),
                            .value = static_cast<double>(asleep.self_ns),
                            .unit = "ns",
                            .table = "python_time",
                            .source = where});
  found.recommendations.push_back({StrCat("remove the sleep, or wait in another thread", InLine(where)), "",
                                   "event.wait(timeout)  # where another thread is waited for", "minutes"});
  return found;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const HostStepView steps(tables);
  const PythonFunction asleep = Asleep(tables, steps.Sum("wall_ns"));
  if (asleep.self_ns == 0) return std::vector<Bottleneck>{};
  const auto ns = static_cast<double>(asleep.self_ns);
  if (steps.applies(tables)) {
    const double share = steps.Share(asleep.self_ns);
    if (share < kHostSleepShare) return std::vector<Bottleneck>{};
    const std::string cost = steps.CostText(asleep.self_ns, asleep.rank);
    Bottleneck found = Describe(asleep, share, StrCat("time.sleep takes ", cost), cost);
    found.gain = steps.GainOf(ns * 0.1, ns, ns, 0.6);
    return std::vector{std::move(found)};
  }
  const LedgerView& ledger = ReadLedger(tables);
  const int64_t idle_ns = IdleNs(tables.Get<HostTimeRows>(), ledger);
  const double share = ledger.Share(idle_ns);
  if (share < kHostSleepShare) return std::vector<Bottleneck>{};
  const std::string cost = ledger.CostText(idle_ns);
  Bottleneck found = Describe(asleep, share, StrCat("the GPU waits ", cost, " for a host that sleeps"), cost);
  found.part_of = "host_bound";
  const auto idle = static_cast<double>(idle_ns);
  found.gain = EstimateGain(
      {.wall_ns = ledger.total.wall_ns, .low_ns = idle * 0.1, .expected_ns = idle, .high_ns = idle, .confidence = 0.6});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(host_sleep) = {
    .id = "host_sleep",
    .type = BottleneckType::kHostBound,
    .title = "The training process sleeps in its steps",
    .why =
        "Calls of time.sleep on the thread that takes the steps, outside of the data loader, by recorded stacks. "
        "Reported at 5 % of the steps' time or more, or where a GPU is idle for 5 % of the time meanwhile.",
    .saves = "1/10, all, all of it. With a GPU part of host_bound",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::host_sleep_rule
