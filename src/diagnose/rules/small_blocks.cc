// SPDX-License-Identifier: Apache-2.0
// Kernels launched in blocks of less than a warp.
//
// A multiprocessor runs warps of 32 threads (64 on AMD's accelerators) and holds a limited number of blocks, so that
// blocks of a few threads leave most of its lanes, and most of its room for warps, empty. The gain: of a block of n
// threads at most n lanes of 32 work, so that filled warps take at least n/32 of the time; we expect half of what could
// go to go, at least a tenth, since such a kernel may wait for memory. These shares are assumptions.
#include <algorithm>

#include "analyses/rows/kernels.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "diagnose/thresholds.h"

namespace gapless::internal::small_blocks_rule {
namespace {

constexpr int64_t kWarp = 32;
// Ours: as for occupancy. Shorter kernels are matters of launching.
constexpr double kSmallBlocksTime = 0.05;

constexpr std::string_view kNeeds[] = {"ledger", "kernels"};

bool HasSmallBlocks(const KernelsRows& kernels, size_t row) {
  if (kernels.IsNull(row, "block_threads") || kernels.Text(row, "class") == "communication") return false;
  return kernels.Int(row, "block_threads") < kWarp && kernels.Real(row, "mean_ns") >= kShortKernelNs;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const auto kernels = tables.Get<KernelsRows>();
  Bottleneck found;
  constexpr size_t kNamed = 4;
  int64_t ns = 0, least_threads = kWarp;
  double could_go = 0;
  for (const size_t row : LargestRows(kernels, "total_ns", kernels.rows())) {
    if (!HasSmallBlocks(kernels, row)) continue;
    const int64_t threads = kernels.Int(row, "block_threads"), of_row = kernels.Int(row, "total_ns");
    ns += of_row, least_threads = std::min(least_threads, threads);
    could_go += static_cast<double>(of_row) * (1 - static_cast<double>(threads) / kWarp);
    if (found.evidence.size() == kNamed) continue;
    found.evidence.push_back({.text = StrCat(Ellipsize(kernels.Text(row, "name"), 80), ": blocks of ",
                                             FormatCounted(threads, "thread"), ", ", ledger.CostText(of_row)),
                              .value = static_cast<double>(threads),
                              .unit = "threads",
                              .table = "gpu_op",
                              .rows = IdsOf(kernels, {row}, "gpu_op_id")});
  }
  const double share = ledger.Share(ns);
  if (share < kSmallBlocksTime) return std::vector<Bottleneck>{};
  found.share_of_step = share;
  found.title = StrCat("kernels in blocks of few threads take ", ledger.CostText(ns));
  found.description = StrCat("For ", FormatPercent(share), " of the time kernels run whose blocks have as few as ",
                             FormatCounted(least_threads, "thread"),
                             ". A multiprocessor runs 32 threads at a time: the other lanes do nothing.");
  found.recommendations.push_back(
      {"launch blocks of 128 or 256 threads, and fewer of them, with several elements for each thread", "",
       "kernel<<<(n + 255) / 256, 256>>>(…)", "hours"});
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = 0.1 * could_go,
                             .expected_ns = 0.5 * could_go,
                             .high_ns = could_go,
                             .confidence = 0.4});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(small_blocks) = {
    .id = "small_blocks",
    .type = BottleneckType::kKernelEfficiency,
    .title = "Kernels run in blocks of few threads",
    .why =
        "Time of kernels of 10 µs and longer whose blocks have fewer than 32 threads, a warp, communication left out. "
        "Reported at 5 % of the analysed time or more (figure: ours, as for occupancy). Not reported where the sizes "
        "of blocks were not recorded.",
    .saves = "1/10, ½, all of the share of a warp's lanes that are empty",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::small_blocks_rule
