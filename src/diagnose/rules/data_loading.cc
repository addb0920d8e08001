// SPDX-License-Identifier: Apache-2.0
// The device waits because the host waits for its next batch.
//
// The gain: on three recorded pairs of ResNet-50 with 0 and with 4 workers on a V100 the step became shorter by
// 0.86, 1.31 and 0.86 times the time the device had idled for data (medians; 0.62, 0.87, 0.99 in the mean). Less,
// because workers compete with the training process for cores; more, because a host that no longer loads gets ahead,
// and other idle time goes too. We expect nine tenths of it, at least half, and at most what the host spends in the
// loader, bounded by all idle time.
#include "analyses/rows/data_loading.h"

#include <algorithm>
#include <cmath>

#include "analyses/rows/idle.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/host_code_view.h"
#include "diagnose/ledger_view.h"
#include "diagnose/loader_work_advice.h"
#include "diagnose/made_lines.h"
#include "diagnose/rule.h"
#include "diagnose/run_traits.h"
#include "diagnose/thresholds.h"
#include "diagnose/whole_run_view.h"
#include "fixes/names.h"

namespace gapless::internal::data_loading_rule {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "idle", "data_loading", "loader_work", "whole_run", "host_code"};

struct Loader {
  bool known = false;         // has a row in data_loading
  bool in_process = false;    // num_workers=0
  bool multiprocess = false;  // num_workers>0
  int64_t mean_ns = 0;        // to get one batch, at the iterator that idles the device most
  int64_t total_ns = 0;       // in all iterators, for every device that waits, as the ledger counts
  double calls_per_step = 1;
  double pageable_share = 0;
  std::string name, line;
  int64_t slice_id = kAbsent;
};

Loader MainLoader(const DataLoadingRows& loading, const LedgerView& ledger) {
  Loader loader;
  const std::vector<size_t> rows = LargestRows(loading, "idle_ns", 1);
  if (rows.empty()) return loader;
  const size_t row = rows[0];
  loader.known = true;
  for (size_t each = 0; each < loading.rows(); ++each)
    loader.total_ns += loading.Int(each, "total_ns") * ledger.DevicesOf(loading.Int(each, "trace"));
  loader.in_process = !loading.IsNull(row, "workers") && loading.Int(row, "workers") == 0;
  loader.multiprocess = loading.Int(row, "multiprocess") == 1;
  loader.mean_ns = loading.Int(row, "mean_ns");
  if (!loading.IsNull(row, "calls_per_step")) loader.calls_per_step = loading.Real(row, "calls_per_step");
  if (!loading.IsNull(row, "h2d_pageable_share")) loader.pageable_share = loading.Real(row, "h2d_pageable_share");
  loader.name = loading.Text(row, "name");
  loader.line = loading.Text(row, "source_line");
  loader.slice_id = loading.Int(row, "slice_id");
  return loader;
}

// Workers that make batches twice as fast as the rest of the step uses them up: single batches take longer than the
// mean.
int64_t WorkersFor(const Loader& loader, const LedgerView& ledger) {
  constexpr int64_t kMin = 2, kMax = 16;
  if (ledger.step_rows == 0 || loader.mean_ns <= 0) return 4;
  const double rest_ns =
      static_cast<double>(ledger.total.wall_ns - ledger.total.idle_data_ns) / static_cast<double>(ledger.step_rows);
  const double load_ns = static_cast<double>(loader.mean_ns) * loader.calls_per_step;
  return std::clamp(static_cast<int64_t>(std::ceil(2 * load_ns / std::max(rest_ns, 1.0))), kMin, kMax);
}

Recommendation UseWorkers(Tables& tables, const Loader& loader, const LedgerView& ledger, bool in_pipeline) {
  const int64_t workers = WorkersFor(loader, ledger);
  if (in_pipeline && !loader.multiprocess)
    return {StrCat("let the pipeline prepare its inputs in worker processes: num_workers=", workers),
            fixes::kWorkers.Item(workers), StrCat("pipeline(task, model=..., num_workers=", workers, ")"), "minutes"};
  const std::string code = StrCat("DataLoader(dataset, ..., num_workers=", workers, ", persistent_workers=True)");
  if (!loader.multiprocess)
    return {StrCat("load batches in worker processes: num_workers=", workers, loader.in_process ? " instead of 0" : "",
                   InLoaderLine(loader.line)),
            fixes::kWorkers.Item(workers), code, "minutes"};
  return OtherWorkers(tables, loader.line);
}

std::vector<Recommendation> Recommend(Tables& tables, const Loader& loader, const LedgerView& ledger) {
  const bool in_pipeline = UsesPipeline(tables.run());
  std::vector<Recommendation> all{UseWorkers(tables, loader, ledger, in_pipeline)};
  if (loader.pageable_share > 0 && !in_pipeline)
    all.push_back({StrCat("copy batches from pinned memory: ", FormatPercent(loader.pageable_share),
                          " of the time of copies to the GPU goes to copies from pageable memory"),
                   fixes::kPin.Item(), PinnedCopyCode(WorkloadOf(tables.run())), "minutes"});
  return all;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const int64_t stake = ledger.total.idle_data_ns;
  const double share = ledger.Share(stake);
  if (share < kDataLoadingShare) return std::vector<Bottleneck>{};
  Loader loader = MainLoader(tables.Get<DataLoadingRows>(), ledger);
  if (loader.line.empty()) loader.line = WholeRunView(tables).Sum("data").line;  // no stacks were recorded
  loader.line = MadeOr(LineOfLoader(tables.run(), loader.line), loader.line);
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("the GPU waits ", ledger.CostText(stake), " for the next batch");
  found.description =
      StrCat("For ", FormatPercent(share), " of the time the GPU is idle while the host waits for its data loader",
             loader.in_process ? ", which makes each batch in the same process (num_workers=0)" : "",
             InLine(loader.line), ledger.WorstText(&DeviceBreakdown::idle_data_ns), ".");
  if (loader.known)
    found.evidence.push_back({.text = StrCat(loader.name, " takes ", FormatDuration(loader.mean_ns), " a batch"),
                              .value = static_cast<double>(loader.mean_ns),
                              .unit = "ns",
                              .table = "slice",
                              .rows = {loader.slice_id},
                              .source = loader.line});
  found.evidence.push_back({.text = StrCat("GPU idle while a batch is loaded: ", FormatPercent(share), " of the time"),
                            .value = share,
                            .unit = "share",
                            .table = "ledger"});
  found.evidence.push_back(LargestGaps(LongestIdle(tables), "data_ns", "wait for a batch"));
  if (auto place = HostPlaceEvidence(tables.Get<HostCodeRows>(), "loading"))
    found.evidence.push_back(std::move(*place));
  found.recommendations = Recommend(tables, loader, ledger);
  AddLoaderWork(tables, true, found);
  const auto idle = static_cast<double>(stake);
  const int64_t most = std::min(ledger.total.idle_ns, std::max(stake, loader.total_ns));
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = idle * 0.5,
                             .expected_ns = idle * 0.9,
                             .high_ns = static_cast<double>(most),
                             .confidence = 0.8});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(data_loading) = {
    .id = "data_loading",
    .type = BottleneckType::kDataLoading,
    .title = "The GPU waits for the next batch",
    .why =
        "Idle time of the GPU while the launching thread is inside the data loader's iterator. Reported at 5 % of the "
        "analysed time or more, the line of the TensorBoard profiler plugin for DataLoader time. Names the iterator, "
        "the workers it has and the line that asks for batches; proposes as many workers as make batches twice as fast "
        "as the rest of the step needs them.",
    .saves = "½, 9/10 of it; all host time in loaders, at most all idle time",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::data_loading_rule
