// SPDX-License-Identifier: Apache-2.0
// A model that only infers normalises after each convolution with numbers that do not change: they can be folded into
// the convolution's weights, and the normalisation is gone. The affected time is that of batch normalisations that
// directly follow a convolution, in recordings without a backward pass. The gain: all of it (high); where the graph
// forbids folding one it stays: we expect nine tenths and at least half.
#include "analyses/rows/fusion.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "diagnose/run_traits.h"
#include "diagnose/thresholds.h"
#include "fixes/names.h"

namespace gapless::internal::unfused_conv_bn_rule {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "fusion", "operators"};

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const auto fusion = tables.Get<FusionRows>();
  int64_t stake = 0, calls = 0;
  size_t most = fusion.rows();
  for (size_t row = 0; row < fusion.rows(); ++row) {
    if (fusion.Text(row, "kind") != "conv_norm") continue;
    stake += fusion.Int(row, "first_ns"), calls += fusion.Int(row, "calls");
    if (most == fusion.rows() || fusion.Int(row, "first_ns") > fusion.Int(most, "first_ns")) most = row;
  }
  const double share = ledger.Share(stake);
  if (share < kUnfusedShare || Trains(tables)) return std::vector<Bottleneck>{};
  const std::string line = TextOr(fusion, most, "source_line", "");
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("batch normalisations after convolutions take ", ledger.CostText(stake));
  found.description = StrCat("For ", FormatPercent(share),
                             " of the time batch normalisations run right after a convolution, and no backward pass "
                             "was recorded: for inference they can be folded into the convolutions.");
  found.evidence.push_back({.text = StrCat(FormatCounted(calls, "normalisation"), " after a convolution, ",
                                           ledger.CostText(stake), InLine(line)),
                            .value = static_cast<double>(stake),
                            .unit = "ns",
                            .table = "slice",
                            .rows = IdsOf(fusion, {most}, "slice_id"),
                            .source = line});
  found.recommendations.push_back({"fold each batch normalisation into the convolution before it", "",
                                   "conv = torch.nn.utils.fusion.fuse_conv_bn_eval(conv.eval(), bn.eval())", "hours"});
  found.recommendations.push_back({"or let the compiler do it: freeze the weights and compile", fixes::kCompile.Item(),
                                   "torch._inductor.config.freezing = True; model = torch.compile(model.eval())",
                                   "minutes"});
  const auto time = static_cast<double>(stake);
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = time * 0.5,
                             .expected_ns = time * 0.9,
                             .high_ns = time,
                             .confidence = 0.6});
  found.part_of = "memory_bound";
  return std::vector{std::move(found)};
}

}  // namespace

RULE(unfused_conv_bn) = {.id = "unfused_conv_bn",
                         .type = BottleneckType::kMemoryBandwidth,
                         .title = "Batch normalisations could be part of the convolutions",
                         .why =
                             "Batch normalisations whose kernel follows a convolution's on the same stream, in "
                             "recordings without any operator of a backward pass: inference. Reported at 3 % of the "
                             "analysed time or more, as for other fusions. In training unfused_pointwise counts them.",
                         .saves = "½, 9/10, all of it. Part of memory_bound",
                         .needs = kNeeds,
                         .check = Check};

}  // namespace gapless::internal::unfused_conv_bn_rule
