// SPDX-License-Identifier: Apache-2.0
// Turns rows of table measured_kernels into metrics, judges them, and adds the place and time of each kernel.
#include "diagnose/measured_kernels_view.h"

#include <algorithm>
#include <cmath>

#include "analyses/rows/measured_kernels.h"
#include "base/strings.h"
#include "diagnose/evidence.h"
#include "diagnose/kernel_analyzer.h"
#include "diagnose/ledger_view.h"
#include "diagnose/thresholds.h"

namespace gapless::internal {
namespace {

constexpr size_t kMaxVerdicts = 5;

KernelMetrics MetricsOf(const MeasuredKernelsRows& kernels, size_t row, const LedgerView& ledger) {
  KernelMetrics metrics{.name = Ellipsize(Printable(kernels.Text(row, "kernel_name")), 80),
                        .sm_throughput_pct = kernels.Real(row, "sm_pct"),
                        .dram_throughput_pct = kernels.Real(row, "dram_pct"),
                        .achieved_occupancy_pct = kernels.Real(row, "occupancy_pct"),
                        .warp_efficiency_pct = kernels.Real(row, "warp_efficiency_pct")};
  if (!kernels.IsNull(row, "total_ns") && ledger.total.wall_ns > 0)
    metrics.share_of_step = ledger.Share(kernels.Int(row, "total_ns"));
  if (!kernels.IsNull(row, "registers")) metrics.registers_per_thread = kernels.Int(row, "registers");
  if (!kernels.IsNull(row, "shared_bytes")) metrics.shared_bytes_per_block = kernels.Int(row, "shared_bytes");
  return metrics;
}

// Adds what is known of the kernel beside the metric: where it runs, and what it takes.
void AddPlace(const MeasuredKernelsRows& kernels, size_t row, const LedgerView& ledger, Bottleneck& found) {
  Evidence& evidence = found.evidence.front();
  if (!kernels.IsNull(row, "grid")) evidence.text += StrCat(", grid ", kernels.Text(row, "grid"));
  if (!kernels.IsNull(row, "block")) evidence.text += StrCat(", block ", kernels.Text(row, "block"));
  evidence.text += StrCat(", ", FormatCounted(kernels.Int(row, "launches"), "measured launch", "measured launches"));
  if (kernels.IsNull(row, "total_ns")) return;
  evidence.table = "gpu_op";
  evidence.rows = IdsOf(kernels, {row}, "gpu_op_id");
  if (ledger.total.wall_ns > 0) found.title += StrCat(", and takes ", ledger.CostText(kernels.Int(row, "total_ns")));
}

// Returns what a kernel took while it was measured; 0: not measured.
double MeasuredNs(const MeasuredKernelsRows& kernels, size_t row) {
  if (kernels.IsNull(row, "duration_ns")) return 0;
  return kernels.Real(row, "duration_ns") * static_cast<double>(std::max<int64_t>(1, kernels.Int(row, "launches")));
}

// Returns how much a verdict on a kernel counts where no timeline says what it takes: its measured time over the
// longest one's. 1 where the kernels have no times, or where there is only one.
double WeightOf(const MeasuredKernelsRows& kernels, size_t row) {
  double longest = 0;
  for (size_t other = 0; other < kernels.rows(); ++other) longest = std::max(longest, MeasuredNs(kernels, other));
  return longest > 0 ? MeasuredNs(kernels, row) / longest : 1;
}

}  // namespace

std::vector<Bottleneck> KernelVerdicts(Tables& tables, BottleneckType type) {
  const auto kernels = tables.Get<MeasuredKernelsRows>();
  const LedgerView& ledger = ReadLedger(tables);
  std::vector<Bottleneck> all;
  for (size_t row = 0; row < kernels.rows(); ++row) {
    const KernelMetrics metrics = MetricsOf(kernels, row, ledger);
    const double weight = std::isfinite(metrics.share_of_step) ? 1 : WeightOf(kernels, row);
    const bool is_small = metrics.share_of_step < kMinMeasuredShare || weight < kMinMeasuredShare;
    for (Bottleneck& found : KernelAnalyzer::Analyze({&metrics, 1})) {
      if (found.type != type || is_small) continue;
      found.severity *= weight;
      AddPlace(kernels, row, ledger, found);
      all.push_back(std::move(found));
    }
  }
  std::ranges::stable_sort(all, [](const Bottleneck& a, const Bottleneck& b) { return a.severity > b.severity; });
  if (all.size() > kMaxVerdicts) all.resize(kMaxVerdicts);
  return all;
}

}  // namespace gapless::internal
