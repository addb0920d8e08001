// SPDX-License-Identifier: Apache-2.0
// Steps on the CPU wait for their next batch.
//
// The gain: with worker processes batches are made while the step computes; on a CPU the two share the cores, so we
// expect seven tenths of the waiting to go, at least a third, and at most all. These shares are assumptions.
#include "analyses/rows/data_loading.h"
#include "base/strings.h"
#include "diagnose/evidence.h"
#include "diagnose/host_step_view.h"
#include "diagnose/loader_work_advice.h"
#include "diagnose/made_lines.h"
#include "diagnose/rule.h"
#include "diagnose/thresholds.h"
#include "diagnose/whole_run_view.h"
#include "fixes/names.h"

namespace gapless::internal::host_data_loading_rule {
namespace {

constexpr std::string_view kNeeds[] = {"host_steps", "data_loading", "loader_work", "whole_run"};

Recommendation Advise(Tables& tables, const DataLoadingRows& loading, const std::string& line) {
  const bool by_workers = loading.rows() > 0 && loading.Int(0, "multiprocess") == 1;
  if (by_workers) return OtherWorkers(tables, line);
  return {StrCat("load batches in worker processes while the step computes: num_workers=2 or more", InLoaderLine(line)),
          fixes::kWorkers.Item("2"), "DataLoader(dataset, ..., num_workers=2, persistent_workers=True)", "minutes"};
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const HostStepView steps(tables);
  if (!steps.applies_to_all(tables)) return std::vector<Bottleneck>{};
  const int64_t stake = steps.Sum("data_ns");
  const double share = steps.Share(stake);
  if (share < kDataLoadingShare) return std::vector<Bottleneck>{};
  const auto loading = tables.Get<DataLoadingRows>();
  std::string line = steps.First("data_line");
  if (line.empty()) line = WholeRunView(tables).Sum("data").line;  // no stacks were recorded
  line = MadeOr(LineOfLoader(tables.run(), line), line);
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("the program waits ", steps.CostText(stake), " for the next batch");
  found.description =
      StrCat("For ", FormatPercent(share), " of the time the process is inside its data loader and computes nothing",
             InLine(line), ".");
  if (loading.rows() > 0)
    found.evidence.push_back(
        {.text = StrCat(loading.Text(0, "name"), " takes ", FormatDuration(loading.Int(0, "mean_ns")),
                        " a batch, the longest ", FormatDuration(loading.Int(0, "max_ns"))),
         .value = static_cast<double>(loading.Int(0, "mean_ns")),
         .unit = "ns",
         .table = "slice",
         .rows = IdsOf(loading, {0}, "slice_id"),
         .source = line});
  found.evidence.push_back({.text = StrCat("in the loader: ", FormatPercent(share),
                                           steps.Sum("steps") > 0 ? " of the steps' time" : " of the time"),
                            .value = share,
                            .unit = "share",
                            .table = "host_steps"});
  found.recommendations.push_back(Advise(tables, loading, line));
  AddLoaderWork(tables, false, found);
  const auto ns = static_cast<double>(stake);
  found.gain = steps.GainOf(ns / 3, ns * 0.7, ns, 0.6);
  return std::vector{std::move(found)};
}

}  // namespace

RULE(host_data_loading) = {.id = "host_data_loading",
                           .type = BottleneckType::kDataLoading,
                           .title = "Steps on the CPU wait for their next batch",
                           .why =
                               "Of processes that use no GPU: time of the steps inside the data loader's iterator, "
                               "or of all that was recorded where no step is marked. "
                               "Reported at 5 % of that time or more, as data_loading does where a GPU waits.",
                           .saves = "⅓, 7/10, all of it",
                           .needs = kNeeds,
                           .check = Check};

}  // namespace gapless::internal::host_data_loading_rule
