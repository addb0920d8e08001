// SPDX-License-Identifier: Apache-2.0
// Kernels that run long enough to matter and have too few blocks to give every multiprocessor one. The affected time is
// the time of kernels of 10 µs and longer, times the share of multiprocessors without blocks. Work spread over all of
// them would save at most that; a larger batch brings more work in the same time instead. How much can be spread is not
// in a recording: we count a tenth at least, three tenths probably, eight tenths at most. Assumptions.
#include "analyses/rows/kernels.h"
#include "analyses/rows/sm_use.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "diagnose/thresholds.h"

namespace gapless::internal::underfilled_gpu_rule {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "sm_use", "kernels"};

std::vector<Evidence> KernelEvidence(const KernelsRows& kernels, const LedgerView& ledger) {
  std::vector<Evidence> all;
  constexpr size_t kNamed = 3;
  for (const size_t row : LargestRows(kernels, "total_ns", kernels.rows())) {
    if (all.size() == kNamed) break;
    if (kernels.IsNull(row, "sm_share") || kernels.Real(row, "sm_share") >= kWellUsedShare ||
        kernels.Real(row, "mean_ns") < kShortKernelNs || kernels.Text(row, "class") == "communication")
      continue;
    all.push_back(
        {.text = StrCat(Ellipsize(kernels.Text(row, "name"), 80), ": ", ledger.CostText(kernels.Int(row, "total_ns")),
                        " on ", FormatPercent(kernels.Real(row, "sm_share")), " of the multiprocessors, ",
                        FormatDuration(kernels.Int(row, "mean_ns")), " a run"),
         .value = kernels.Real(row, "sm_share"),
         .unit = "share",
         .table = "gpu_op",
         .rows = IdsOf(kernels, {row}, "gpu_op_id")});
  }
  return all;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const auto use = tables.Get<SmUseRows>();
  const int64_t unfilled_ns = SumOf(use, "long_unfilled_ns"), kernel_ns = SumOf(use, "long_kernel_ns");
  const double share = ledger.Share(unfilled_ns);
  if (kernel_ns == 0 || share < kUnderfilledTime) return std::vector<Bottleneck>{};
  const double filled = 1 - static_cast<double>(unfilled_ns) / static_cast<double>(kernel_ns);
  if (filled >= kWellUsedShare) return std::vector<Bottleneck>{};
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("kernels fill ", FormatPercent(filled), " of the GPU; the unused part is worth ",
                       ledger.CostText(unfilled_ns));
  found.description = StrCat("Kernels of 10 µs and longer have blocks for ", FormatPercent(filled),
                             " of the GPU's multiprocessors", filled < kBadlyUsedShare ? ", less than two fifths" : "",
                             "; the unused part is worth ", FormatPercent(share), " of the time.");
  found.evidence.push_back(
      {.text = StrCat("by the size of their grids, kernels have blocks for ", FormatPercent(filled),
                      " of the multiprocessors while such kernels run: ", ledger.CostText(kernel_ns)),
       .value = filled,
       .unit = "share",
       .table = "sm_use"});
  for (Evidence& item : KernelEvidence(tables.Get<KernelsRows>(), ledger)) found.evidence.push_back(std::move(item));
  found.recommendations.push_back({"give each kernel more to do: a larger batch", "", "", "minutes"});
  found.recommendations.push_back(
      {"run independent parts at once: on separate streams, or as one batched operator instead of a loop", "",
       "torch.bmm(...) / torch._foreach_*(...) / torch.vmap(...)", "hours"});
  const auto idle = static_cast<double>(unfilled_ns);
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = 0.1 * idle,
                             .expected_ns = 0.3 * idle,
                             .high_ns = 0.8 * idle,
                             .confidence = 0.3});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(underfilled_gpu) = {
    .id = "underfilled_gpu",
    .type = BottleneckType::kKernelEfficiency,
    .title = "Kernels are too small to fill the GPU",
    .why =
        "Multiprocessors that have blocks while kernels of 10 µs and longer run, communication left out, estimated "
        "from grid sizes as the TensorBoard plugin does. Reported below 60 % (below 40 % is critical), if the unused "
        "part is worth 5 % of the time. Shorter kernels are left to the rules on launches.",
    .saves = "1/10, 3/10, 8/10 of it",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::underfilled_gpu_rule
