// SPDX-License-Identifier: Apache-2.0
// Chains of operators that each read and write whole tensors, where one kernel could do it all in one pass. The
// affected time is what a perfect fusion saves, (n−1)/n of a chain's time (analysis fusion), which is also the high
// estimate: n operators with one input and one output move 2n tensors, one kernel moves 2. Operators with a second
// input from elsewhere still read it, and what the backward pass needs is still written: of n such operators in
// training n+1 of 2n tensors remain, so half of the bound is what we expect, and a quarter the least: reductions in a
// chain are often two kernels after all. Convolution and normalisation count here in training; for inference
// unfused_conv_bn has them.
#include <algorithm>

#include "analyses/rows/fusion.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/row_groups.h"
#include "diagnose/rule.h"
#include "diagnose/run_traits.h"
#include "diagnose/thresholds.h"
#include "fixes/names.h"

namespace gapless::internal::unfused_pointwise_rule {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "fusion", "kernels", "operators"};
constexpr FusionRows::TextColumn kKey[] = {"kind", "pattern", "source_line"};

// "aten::mul > aten::add" → "mul, add"; long ones are cut.
std::string Short(std::string_view pattern) {
  std::string text;
  size_t links = 0;
  constexpr size_t kShown = 6;
  for (std::string_view part : Split(pattern, '>')) {
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (part.starts_with("aten::")) part.remove_prefix(6);
    if (links++ < kShown) text += StrCat(links > 1 ? ", " : "", part);
  }
  return links > kShown ? StrCat(text, " and ", links - kShown, " more") : text;
}

Evidence EvidenceOf(const FusionRows& fusion, const RowGroup& chain, const LedgerView& ledger) {
  const size_t row = chain.first();
  const std::string line = TextOr(fusion, row, "source_line", "");
  const int64_t ns = SumOver(fusion, chain, "device_ns"), calls = fusion.Int(row, "calls");
  const std::string bytes = fusion.IsNull(row, "bytes")
                                ? ""
                                : StrCat(", ", FormatBytes(fusion.Int(row, "bytes") / calls), " moved each time");
  return {.text = StrCat(Short(fusion.Text(row, "pattern")), InLine(line), ": ",
                         HowOften(fusion, chain, "calls_per_step", "calls"), ", ", ledger.CostText(ns), bytes),
          .value = static_cast<double>(ns),
          .unit = "ns",
          .table = "slice",
          .rows = IdsOf(fusion, chain.rows, "slice_id"),
          .source = line};
}

// Chains that have a fused operator of their own in PyTorch.
std::vector<Recommendation> Recommend(const FusionRows& fusion, const std::vector<RowGroup>& worst, bool compiled) {
  std::vector<Recommendation> all;
  all.push_back({compiled ? "compile the code that is not compiled yet: these chains run as separate operators"
                          : "compile the model: each chain becomes one kernel",
                 fixes::kCompile.Item(), "model = torch.compile(model)", "minutes"});
  for (const RowGroup& chain : worst) {
    const size_t row = chain.first();
    const std::string_view pattern = fusion.Text(row, "pattern");
    const auto has = [&](std::string_view name) { return pattern.find(name) != pattern.npos; };
    const std::string line = InLine(TextOr(fusion, row, "source_line", ""));
    if (has("aten::pow") && has("aten::rsqrt") && has("aten::mean"))
      all.push_back({StrCat("use the fused operator for the root-mean-square norm", line), "",
                     "torch.nn.functional.rms_norm(x, (x.shape[-1],), weight, eps)", "minutes"});
    else if (has("aten::tanh") && has("aten::mul") && has("aten::add"))
      all.push_back({StrCat("use the fused operator for the GELU", line), "",
                     "torch.nn.functional.gelu(x, approximate=\"tanh\")", "minutes"});
  }
  return all;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const auto fusion = tables.Get<FusionRows>();
  const bool trains = Trains(tables);
  std::vector<RowGroup> chains = GroupRows(fusion, kKey, [&](size_t row) {
    return trains || fusion.Text(row, "kind") != "conv_norm" ? fusion.Int(row, "removable_ns") : 0;
  });
  int64_t removable = 0, device = 0, calls = 0;
  for (const RowGroup& chain : chains) {
    removable += chain.value;
    device += SumOver(fusion, chain, "device_ns"), calls += SumOver(fusion, chain, "calls");
  }
  const double share = ledger.Share(removable);
  if (share < kUnfusedShare) return std::vector<Bottleneck>{};
  chains.resize(std::min<size_t>(chains.size(), 3));
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("chains of operators that could be one kernel each cost ", ledger.CostText(removable));
  found.description = StrCat(FormatCounted(calls, "chain"), " of elementwise operators, reductions and normalisations ",
                             calls == 1 ? "takes " : "take ", ledger.CostText(device),
                             ". Each operator reads and writes whole tensors; with one kernel per chain, up to ",
                             FormatPercent(share), " of the time would be saved.");
  for (const RowGroup& chain : chains) found.evidence.push_back(EvidenceOf(fusion, chain, ledger));
  found.recommendations = Recommend(fusion, chains, SeesCompiler(tables));
  const auto bound = static_cast<double>(removable);
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = bound * 0.25,
                             .expected_ns = bound * 0.5,
                             .high_ns = bound,
                             .confidence = 0.5});
  found.part_of = "memory_bound";
  return std::vector{std::move(found)};
}

}  // namespace

RULE(unfused_pointwise) = {
    .id = "unfused_pointwise",
    .type = BottleneckType::kMemoryBandwidth,
    .title = "Chains of small operators could be one kernel each",
    .why =
        "Chains of up to 15 elementwise operators, reductions and normalisations that follow each other on a stream "
        "with nothing between them, on tensors of fitting sizes where shapes were recorded; kernels of compilers, "
        "optimisers and attention left out. Reported if the part that one kernel per chain would save, (n-1)/n of the "
        "time of n operators, is 3 % of the time; TraceLens lists candidates from 2 %.",
    .saves = "¼, ½, all of it. Part of memory_bound",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::unfused_pointwise_rule
