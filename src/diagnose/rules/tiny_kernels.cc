// SPDX-License-Identifier: Apache-2.0
// Most kernels are so short that starting and ending them is what takes the time. The affected time is that of kernels
// under 10 µs and of gaps under 10 µs between them. The gain is an assumption: a kernel needs 2 to 3 µs to fill and
// drain the device, whatever it computes, so a fused one saves about half of the kernels' and the gaps' time; three
// quarters of the kernels and all gaps at most, a quarter of the kernels at least.
#include "analyses/rows/tiny_kernels.h"

#include <algorithm>

#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/row_groups.h"
#include "diagnose/rule.h"
#include "diagnose/thresholds.h"
#include "fixes/names.h"

namespace gapless::internal::tiny_kernels_rule {
namespace {

// TraceLens: a kernel under 10 µs is short; the rule fires if at least half of them are, and they take 5 %.
constexpr double kTinyKernelCountShare = 0.50;
constexpr double kTinyKernelTimeShare = 0.05;

constexpr std::string_view kNeeds[] = {"ledger", "tiny_kernels"};
constexpr TinyKernelsRows::TextColumn kKey[] = {"operator"};
constexpr int64_t kManyKernels = 32;  // in all; of fewer nothing can be said

struct Totals {
  int64_t kernels = 0, short_kernels = 0, short_ns = 0, gap_ns = 0;
  int64_t stake() const { return short_ns + gap_ns; }
};

Totals Sum(const TinyKernelsRows& tiny) {
  return {SumOf(tiny, "kernels"), SumOf(tiny, "short_kernels"), SumOf(tiny, "short_ns"), SumOf(tiny, "gap_ns")};
}

Evidence EvidenceOf(const TinyKernelsRows& tiny, const RowGroup& group, const LedgerView& ledger) {
  const size_t row = group.first();
  const int64_t kernels = SumOver(tiny, group, "short_kernels"), ns = SumOver(tiny, group, "short_ns");
  const std::string line = TextOr(tiny, row, "source_line", "");
  return {.text = StrCat(TextOr(tiny, row, "operator", "launches outside of operators"), InLine(line),
                         ": a short kernel ", HowOften(tiny, group, "short_per_step", "short_kernels"), ", ",
                         FormatDuration(ns / std::max<int64_t>(1, kernels)), " each; with the gaps between them ",
                         ledger.CostText(group.value)),
          .value = static_cast<double>(group.value),
          .unit = "ns",
          .table = "slice",
          .rows = IdsOf(tiny, group.rows, "slice_id"),
          .source = line};
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const auto tiny = tables.Get<TinyKernelsRows>();
  const Totals totals = Sum(tiny);
  const double share = ledger.Share(totals.stake());
  if (share < kTinyKernelTimeShare || totals.short_kernels < kManyKernels) return std::vector<Bottleneck>{};
  const double count_share = static_cast<double>(totals.short_kernels) / static_cast<double>(totals.kernels);
  if (count_share < kTinyKernelCountShare) return std::vector<Bottleneck>{};
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat(FormatPercent(count_share), " of the kernels are shorter than 10 µs and take ",
                       ledger.CostText(totals.stake()));
  found.description = StrCat("Kernels under 10 µs and the gaps between them take ", FormatPercent(share),
                             " of the time; starting and ending each of them is a large part of that.");
  std::vector<RowGroup> groups =
      GroupRows(tiny, kKey, [&](size_t row) { return tiny.Int(row, "short_ns") + tiny.Int(row, "gap_ns"); });
  groups.resize(std::min<size_t>(groups.size(), 3));
  for (const RowGroup& group : groups) found.evidence.push_back(EvidenceOf(tiny, group, ledger));
  found.recommendations.push_back({"compile the model: small operators are fused", fixes::kCompile.Item(),
                                   "model = torch.compile(model)", "minutes"});
  found.recommendations.push_back({"give each kernel more to do: a larger batch", "", "", "hours"});
  const auto kernels = static_cast<double>(totals.short_ns), gaps = static_cast<double>(totals.gap_ns);
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = kernels * 0.25,
                             .expected_ns = kernels * 0.5 + gaps * 0.5,
                             .high_ns = kernels * 0.75 + gaps,
                             .confidence = 0.4});
  if (ledger.Share(ledger.total.idle_launch_ns) >= kLaunchBoundShare) found.part_of = "launch_bound";
  return std::vector{std::move(found)};
}

}  // namespace

RULE(tiny_kernels) = {
    .id = "tiny_kernels",
    .type = BottleneckType::kKernelEfficiency,
    .title = "Most kernels are too short to fill the GPU",
    .why =
        "Time of kernels under 10 µs (the limit of TraceLens), without communication, and of gaps under 10 µs between "
        "two of them. Reported if at least half of the kernels, and at least 32, are that short and they take 5 % of "
        "the analysed time or more. If the GPU also waits for launches, the finding is part of launch_bound.",
    .saves =
        "¼ of the short kernels; ½ of kernels and gaps; ¾ of the kernels and all gaps. Part of launch_bound where "
        "launching idles the GPU for 10 % of the time",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::tiny_kernels_rule
