// SPDX-License-Identifier: Apache-2.0
// Kernels that fill the device with blocks and still have few warps on each multiprocessor, so that waits for memory
// are not hidden. Kernels on matrix units run that way on purpose (they keep their tiles in registers), so only others
// count; and those whose grids do not fill the device belong to `underfilled_gpu`. The affected time is that of such
// kernels. Twice the warps hide at most half of the waiting; the kernel's author must change its use of registers or
// shared memory, or the compiler generate another: a twentieth at least, a fifth probably, half at most. Assumptions:
// the estimate of the recorder counts launches, not stalls.
#include "analyses/rows/kernels.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "diagnose/thresholds.h"
#include "fixes/names.h"

namespace gapless::internal::low_occupancy_rule {
namespace {

// Occupancy is low below 30 %.
constexpr double kLowOccupancyPct = 30;
// The share of the time at which TraceLens reports communication and copies.
constexpr double kLowOccupancyTime = 0.05;

constexpr std::string_view kNeeds[] = {"ledger", "kernels"};

bool IsLow(const KernelsRows& kernels, size_t row) {
  const std::string_view kind = kernels.Text(row, "class");
  for (const std::string_view other : {"gemm", "gemv", "conv", "attention", "communication"})
    if (kind == other) return false;
  if (kernels.Text(row, "matrix_unit") == "yes" || kernels.Real(row, "mean_ns") < kShortKernelNs) return false;
  if (kernels.IsNull(row, "occupancy_pct") || kernels.IsNull(row, "sm_share")) return false;
  return kernels.Real(row, "occupancy_pct") < kLowOccupancyPct && kernels.Real(row, "sm_share") >= kWellUsedShare;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const auto kernels = tables.Get<KernelsRows>();
  std::vector<size_t> rows;
  int64_t ns = 0;
  double weighted = 0;
  for (const size_t row : LargestRows(kernels, "total_ns", kernels.rows())) {
    if (!IsLow(kernels, row)) continue;
    rows.push_back(row);
    ns += kernels.Int(row, "total_ns");
    weighted += kernels.Real(row, "total_ns") * kernels.Real(row, "occupancy_pct");
  }
  const double share = ledger.Share(ns);
  if (share < kLowOccupancyTime) return std::vector<Bottleneck>{};
  const double occupancy = weighted / static_cast<double>(ns) / 100;
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("kernels with ", FormatPercent(occupancy), " occupancy take ", ledger.CostText(ns));
  found.description = StrCat("Kernels off the matrix units that keep less than ", FormatNumber(kLowOccupancyPct, 0),
                             " % of the possible warps running, by the recorder's estimate, take ",
                             FormatPercent(share), " of the time; too few to hide the time that each waits.");
  constexpr size_t kNamed = 4;
  for (size_t i = 0; i < rows.size() && i < kNamed; ++i)
    found.evidence.push_back({.text = StrCat(Ellipsize(kernels.Text(rows[i], "name"), 80), ": ",
                                             ledger.CostText(kernels.Int(rows[i], "total_ns")), " at ",
                                             FormatNumber(kernels.Real(rows[i], "occupancy_pct"), 0), " % occupancy"),
                              .value = kernels.Real(rows[i], "occupancy_pct"),
                              .unit = "percent",
                              .table = "gpu_op",
                              .rows = IdsOf(kernels, {rows[i]}, "gpu_op_id")});
  found.recommendations.push_back(
      {"let the compiler generate these kernels", fixes::kCompile.Item(), "model = torch.compile(model)", "minutes"});
  found.recommendations.push_back(
      {"in kernels of your own, use fewer registers or less shared memory per block; ncu shows what limits them", "",
       "ncu --section Occupancy --section LaunchStats python script.py", "hours"});
  const auto time = static_cast<double>(ns);
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = 0.05 * time,
                             .expected_ns = 0.2 * time,
                             .high_ns = 0.5 * time,
                             .confidence = 0.3});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(low_occupancy) = {
    .id = "low_occupancy",
    .type = BottleneckType::kKernelEfficiency,
    .title = "Kernels keep too few warps running",
    .why =
        "Time of kernels whose estimated occupancy, weighted by time, is below 30 %, although their blocks fill the "
        "GPU. Products, convolutions, attention and all that runs on matrix units are left out: tuned kernels of these "
        "hold their tiles in registers and run at low occupancy on purpose. Communication and kernels under 10 µs are "
        "left out, too. Reported at 5 % of the analysed time or more.",
    .saves = "1/20, 1/5, ½ of it",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::low_occupancy_rule
