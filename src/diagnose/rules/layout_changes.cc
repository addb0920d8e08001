// SPDX-License-Identifier: Apache-2.0
// Libraries change the layout of tensors before and after the operations they were asked for. cuDNN and MIOpen run
// convolutions on tensor cores (matrix cores) in NHWC; tensors in PyTorch's default NCHW are transposed each time. The
// affected time is that of these kernels. The gain: with channels_last all of them can go (high), those at the borders
// of the model stay: we expect eight tenths and at least half. That convolutions themselves often run faster then is
// not counted.
#include "analyses/rows/layout_changes.h"

#include <algorithm>

#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/row_groups.h"
#include "diagnose/rule.h"
#include "fixes/names.h"

namespace gapless::internal::layout_changes_rule {
namespace {

// Ours: less than what channels_last brings at its worst (PyTorch's memory format tutorial: 8 to 35 %) is not worth it.
constexpr double kLayoutChangesShare = 0.03;

constexpr std::string_view kNeeds[] = {"ledger", "layout_changes"};
constexpr LayoutChangesRows::TextColumn kKey[] = {"operator", "source_line"};

Evidence EvidenceOf(const LayoutChangesRows& changes, const RowGroup& group, const LedgerView& ledger) {
  const size_t row = group.first();
  const int64_t ns = group.value, all = SumOver(changes, group, "operator_ns");
  const std::string line = TextOr(changes, row, "source_line", "");
  const double of = all > 0 ? static_cast<double>(ns) / static_cast<double>(all) : 0;
  return {.text = StrCat(TextOr(changes, row, "operator", "kernels without an operator"), InLine(line), ": ",
                         FormatCounted(SumOver(changes, group, "calls"), "kernel"), " such as ",
                         Ellipsize(changes.Text(row, "kernel"), 60), ", ", ledger.CostText(ns), ", ", FormatPercent(of),
                         changes.IsNull(row, "operator") ? " of the time of such kernels" : " of the operator's time"),
          .value = static_cast<double>(ns),
          .unit = "ns",
          .table = "gpu_op",
          .rows = IdsOf(changes, group.rows, "gpu_op_id"),
          .source = line};
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const auto changes = tables.Get<LayoutChangesRows>();
  const int64_t stake = SumOf(changes, "device_ns");
  const double share = ledger.Share(stake);
  if (share < kLayoutChangesShare) return std::vector<Bottleneck>{};
  std::vector<RowGroup> groups = GroupRows(changes, kKey, [&](size_t row) { return changes.Int(row, "device_ns"); });
  groups.resize(std::min<size_t>(groups.size(), 3));
  const std::string most = TextOr(changes, groups[0].first(), "operator", "");
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("changing the layout of tensors takes ", ledger.CostText(stake));
  found.description = StrCat("For ", FormatPercent(share),
                             " of the time kernels run that only turn tensors from one memory layout into another for "
                             "a library",
                             most.empty() ? "" : StrCat("; most of them for ", most), ".");
  for (const RowGroup& group : groups) found.evidence.push_back(EvidenceOf(changes, group, ledger));
  found.recommendations.push_back(
      {"keep images and the model in the layout that the library computes in", fixes::kChannelsLast.Item(),
       "model = model.to(memory_format=torch.channels_last); x = x.to(memory_format=torch.channels_last)", "minutes"});
  const auto time = static_cast<double>(stake);
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = time * 0.5,
                             .expected_ns = time * 0.8,
                             .high_ns = time,
                             .confidence = 0.6});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(layout_changes) = {
    .id = "layout_changes",
    .type = BottleneckType::kMemoryBandwidth,
    .title = "Tensors change their memory layout for each convolution",
    .why =
        "Time of the kernels with which cuDNN (nchwToNhwc, nhwcToNchw) and MIOpen (batched_transpose) turn tensors "
        "into the layout they compute in and back. Reported at 3 % of the analysed time or more: channels_last brought "
        "8 to 35 % of the step in PyTorch's memory format tutorial.",
    .saves = "½, 8/10, all of it",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::layout_changes_rule
