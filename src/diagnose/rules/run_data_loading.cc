// SPDX-License-Identifier: Apache-2.0
// The steps of the whole run wait for their next batch, and no recording shows it: nothing was recorded, or the
// recorded steps do not wait.
//
// The gain is estimated as in host_data_loading. Where the process uses a device, the device may still work while the
// host waits, so that the wait may cost nothing (low), and we expect half of it to go.
#include "analyses/rows/whole_run.h"
#include "base/strings.h"
#include "diagnose/evidence.h"
#include "diagnose/host_step_view.h"
#include "diagnose/ledger_view.h"
#include "diagnose/made_lines.h"
#include "diagnose/rule.h"
#include "diagnose/thresholds.h"
#include "diagnose/whole_run_view.h"
#include "fixes/names.h"

namespace gapless::internal::run_data_loading_rule {
namespace {

constexpr std::string_view kNeeds[] = {"whole_run", "host_steps", "ledger"};

bool IsSeenInRecording(Tables& tables) {
  const HostStepView host(tables);
  const LedgerView& ledger = ReadLedger(tables);
  return (host.applies(tables) && host.Share(host.Sum("data_ns")) >= kDataLoadingShare) ||
         ledger.Share(ledger.total.idle_data_ns) >= kDataLoadingShare;
}

bool HasWorkers(const WholeRunRows& table) {
  for (size_t row = 0; row < table.rows(); ++row)
    if (!table.IsNull(row, "workers") && table.Int(row, "workers") > 0) return true;
  return false;
}

Recommendation Advise(Tables& tables, bool has_workers, const std::string& line) {
  if (has_workers) return OtherWorkers(tables, line);
  return {StrCat("load batches in worker processes while the step computes: num_workers=2 or more", InLoaderLine(line)),
          fixes::kWorkers.Item("2"), "DataLoader(dataset, ..., num_workers=2, persistent_workers=True)", "minutes"};
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const WholeRunView run(tables);
  WholeRunSum waits = run.Sum("data");
  waits.line = MadeOr(LineOfLoader(tables.run(), waits.line), waits.line);
  const double share = run.Share(waits.total_ns);
  if (!run.knows() || share < kDataLoadingShare || IsSeenInRecording(tables)) return std::vector<Bottleneck>{};
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("the step waits ", run.CostText(waits.total_ns), " for the next batch, over the whole run");
  found.description = StrCat("The training process waits for its next batch for ", run.ShareText(waits.total_ns),
                             InLine(waits.line), ". The recorded steps are not counted; they do not show these waits.");
  found.evidence.push_back({.text = StrCat("waiting for batches: ", run.ShareText(waits.total_ns),
                                           ", the longest wait ", FormatDuration(waits.max_ns)),
                            .value = share,
                            .unit = "share",
                            .table = "whole_run",
                            .source = waits.line});
  found.recommendations.push_back(Advise(tables, HasWorkers(run.table()), waits.line));
  const auto ns = static_cast<double>(waits.total_ns);
  found.gain = run.on_device() ? run.GainOf(0, ns * 0.5, ns, 0.4) : run.GainOf(ns / 3, ns * 0.7, ns, 0.6);
  return std::vector{std::move(found)};
}

}  // namespace

RULE(run_data_loading) = {
    .id = "run_data_loading",
    .type = BottleneckType::kDataLoading,
    .title = "Over the whole run, steps wait for their next batch",
    .why =
        "Waits for batches that the agent adds up in every step, without the first and the recorded ones. Reported "
        "at 5 % of the steps' time or more, as data_loading is, where no recorded step shows it: without a "
        "recording, or where the recorded steps happen not to wait.",
    .saves = "0, ½, all of it; without a GPU ⅓, 7/10, all",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::run_data_loading_rule
