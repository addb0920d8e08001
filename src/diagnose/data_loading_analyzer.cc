// SPDX-License-Identifier: Apache-2.0
// Reads the figures of data loading from the tables, and reports the tests that they fail.
#include "diagnose/data_loading_analyzer.h"

#include <algorithm>

#include "analyses/rows/copies.h"
#include "analyses/rows/data_loading.h"
#include "analyses/rows/idle.h"
#include "base/strings.h"
#include "diagnose/bottleneck_analyzer.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "fixes/names.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kLoadingRules[] = {"data_loading"};

// The three tests as evidence, those that say something.
std::vector<Evidence> Tests(const DataLoadingAnalyzer::Figures& figures, const IdleRows& idle) {
  std::vector<Evidence> all;
  if (figures.long_gaps > 0) {
    Evidence gaps = LargestGaps(idle, "data_ns", "wait for a batch");
    gaps.text =
        StrCat(FormatCount(figures.long_gaps), figures.long_gaps == 1 ? " gap" : " gaps",
               " of more than 5 ms while a batch is made, the longest ", FormatDuration(figures.longest_gap_ns));
    all.push_back(std::move(gaps));
  }
  if (figures.loader_ns && figures.gpu_ns && *figures.loader_ns > *figures.gpu_ns)
    all.push_back({.text = StrCat("loading takes ", FormatDuration(*figures.loader_ns),
                                  " of host time, longer than the GPU works: ", FormatDuration(*figures.gpu_ns)),
                   .value = static_cast<double>(*figures.loader_ns),
                   .unit = "ns",
                   .table = "data_loading"});
  return all;
}

Bottleneck Copies(double share, const CopiesRows& copies) {
  Bottleneck found;
  found.id = "copies_to_device";
  found.type = BottleneckType::kDataLoading;
  found.severity = SeverityOfShare(share);
  found.share_of_step = share;
  found.title = StrCat("copies to the GPU take ", FormatPercent(share), " of the step");
  found.description = StrCat("Copies from host to device run for ", FormatPercent(share), " of the time.");
  std::vector<size_t> rows;
  for (const size_t row : LargestRows(copies, "total_ns"))
    if (copies.Text(row, "kind").starts_with("h2d")) rows.push_back(row);
  found.evidence.push_back({.text = found.description,
                            .value = share,
                            .unit = "share",
                            .table = "gpu_op",
                            .rows = IdsOf(copies, rows, "gpu_op_id")});
  found.recommendations = {{"copy batches from pinned memory, while the step before computes", fixes::kPin.Item(),
                            "DataLoader(..., pin_memory=True); batch.to(device, non_blocking=True)", "minutes"},
                           {"copy fewer bytes: uint8 images, and conversion on the GPU", "", "", "hours"}};
  return found;
}

}  // namespace

DataLoadingAnalyzer::Figures DataLoadingAnalyzer::FiguresOf(Tables& tables) {
  Figures figures;
  const auto idle = tables.Get<IdleRows>();
  const auto loading = tables.Get<DataLoadingRows>();
  const auto copies = tables.Get<CopiesRows>();
  for (size_t row = 0; row < idle.rows(); ++row) {
    const int64_t waiting = idle.Int(row, "data_ns");
    figures.long_gaps += waiting > kLongGapNs;
    figures.longest_gap_ns = std::max(figures.longest_gap_ns, waiting);
  }
  const LedgerView& ledger = ReadLedger(tables);
  if (loading.rows() > 0) figures.loader_ns = SumOf(loading, "total_ns");
  if (ledger.devices.empty()) return figures;
  figures.gpu_ns = ledger.total.wall_ns - ledger.total.idle_ns;
  int64_t to_device = 0;
  for (size_t row = 0; row < copies.rows(); ++row)
    if (copies.Text(row, "kind").starts_with("h2d")) to_device += copies.Int(row, "total_ns");
  if (copies.rows() > 0) figures.copy_share = ledger.Share(to_device);
  return figures;
}

std::vector<Bottleneck> DataLoadingAnalyzer::Analyze(Tables& tables) {
  const Figures figures = FiguresOf(tables);
  std::vector<Bottleneck> all = CheckRules(tables, kLoadingRules);
  for (Bottleneck& bottleneck : all)
    for (Evidence& evidence : Tests(figures, LongestIdle(tables))) bottleneck.evidence.push_back(std::move(evidence));
  if (figures.copy_share && *figures.copy_share > kCopyShare)
    all.push_back(Copies(*figures.copy_share, tables.Get<CopiesRows>()));
  std::stable_sort(all.begin(), all.end(),
                   [](const Bottleneck& a, const Bottleneck& b) { return a.severity > b.severity; });
  return all;
}

}  // namespace gapless::internal
