// SPDX-License-Identifier: Apache-2.0
// Compares the metrics of a kernel with fixed limits, and makes a finding for each limit that it misses.
#include "diagnose/kernel_analyzer.h"

#include <algorithm>
#include <cmath>

#include "analyses/rows/kernel_hot_lines.h"
#include "analyses/rows/kernel_limits.h"
#include "analyses/rows/kernel_roofline.h"
#include "analyses/rows/measured_kernels.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/thresholds.h"
#include "fixes/names.h"

namespace gapless::internal {
namespace {

constexpr KernelThresholds kLines = KernelAnalyzer::kThresholds;

struct Verdict {
  BottleneckType type;
  std::string_view metric;
  double value = 0;  // percent
  double severity_without_timeline = 0;
  std::string title, description;
  std::vector<Recommendation> recommendations{};
};

Bottleneck Make(const KernelMetrics& kernel, Verdict verdict) {
  Bottleneck found;
  found.id = "kernel_metrics";
  found.type = verdict.type;
  const bool timeline = std::isfinite(kernel.share_of_step);
  found.severity =
      timeline ? SeverityOfShare(kernel.share_of_step) : std::clamp(verdict.severity_without_timeline, 0.0, 1.0);
  if (timeline) found.share_of_step = kernel.share_of_step;
  found.title = StrCat(kernel.name, ": ", verdict.title);
  found.description = std::move(verdict.description);
  std::string text = StrCat(verdict.metric, " ", FormatNumber(verdict.value, 1), " %");
  if (kernel.registers_per_thread >= 0) text += StrCat(", ", kernel.registers_per_thread, " registers per thread");
  if (kernel.shared_bytes_per_block >= 0)
    text += StrCat(", ", kernel.shared_bytes_per_block, " bytes of shared memory per block");
  found.evidence.push_back(
      {.text = std::move(text), .value = verdict.value, .unit = "percent", .table = "kernel_metric"});
  found.recommendations = std::move(verdict.recommendations);
  return found;
}

Verdict MemoryBound(const KernelMetrics& kernel) {
  return {BottleneckType::kMemoryBandwidth,
          "DRAM throughput",
          kernel.dram_throughput_pct,
          kernel.dram_throughput_pct / 100,
          "bound by memory bandwidth",
          StrCat("Memory runs at ", FormatNumber(kernel.dram_throughput_pct, 1), " % of its peak, computing at ",
                 FormatNumber(kernel.sm_throughput_pct, 1), " %."),
          {{"move fewer bytes: fuse the kernel with its neighbours, or use a narrower type", fixes::kCompile.Item(),
            "model = torch.compile(model)", "minutes"}}};
}

Verdict LowBandwidth(const KernelMetrics& kernel) {
  return {BottleneckType::kMemoryBandwidth,
          "DRAM throughput",
          kernel.dram_throughput_pct,
          1 - kernel.dram_throughput_pct / 100,
          "its memory is underused",
          StrCat("Memory runs at ", FormatNumber(kernel.dram_throughput_pct, 1),
                 " % of its peak; how much is computed was not measured."),
          {{"coalesce access, and load several values per thread", "", "", "days"}}};
}

Verdict Underused(const KernelMetrics& kernel) {
  const bool critical = kernel.sm_throughput_pct < kLines.sm_throughput_critical_pct;
  return {BottleneckType::kKernelEfficiency,
          "SM throughput",
          kernel.sm_throughput_pct,
          1 - kernel.sm_throughput_pct / 100,
          critical ? "its compute units are critically underused" : "its compute units are underused",
          StrCat("Computing runs at ", FormatNumber(kernel.sm_throughput_pct, 1), " % of the GPU's peak."),
          {{"give the GPU more to do at once: a larger batch, or fewer and larger kernels", fixes::kCompile.Item(),
            "model = torch.compile(model)", "minutes"}}};
}

Verdict LowOccupancy(const KernelMetrics& kernel) {
  return {BottleneckType::kKernelEfficiency,
          "achieved occupancy",
          kernel.achieved_occupancy_pct,
          1 - kernel.achieved_occupancy_pct / 100,
          "low occupancy",
          StrCat("Only ", FormatNumber(kernel.achieved_occupancy_pct, 1),
                 " % of the warps a multiprocessor can hold are resident: too few to hide the latency of memory and "
                 "instructions."),
          {{"use fewer registers or less shared memory per block, or launch more blocks", "", "", "days"}}};
}

Verdict Divergent(const KernelMetrics& kernel) {
  return {BottleneckType::kKernelEfficiency,
          "warp efficiency",
          kernel.warp_efficiency_pct,
          1 - kernel.warp_efficiency_pct / 100,
          "threads of a warp diverge",
          StrCat("Of the threads of a warp ", FormatNumber(kernel.warp_efficiency_pct, 1),
                 " % are active in an executed instruction."),
          {{"let neighbouring threads take the same branch", "", "", "days"}}};
}

}  // namespace

std::vector<Bottleneck> KernelAnalyzer::Analyze(std::span<const KernelMetrics> kernels) {
  std::vector<Bottleneck> all;
  for (const KernelMetrics& kernel : kernels) {
    const bool underused = kernel.sm_throughput_pct < kLines.sm_throughput_pct;  // false for NaN, as all below
    const bool memory = underused && kernel.dram_throughput_pct > kLines.dram_throughput_pct;
    if (memory) all.push_back(Make(kernel, MemoryBound(kernel)));
    if (underused && !memory) all.push_back(Make(kernel, Underused(kernel)));
    if (std::isnan(kernel.sm_throughput_pct) && kernel.dram_throughput_pct < kLines.dram_throughput_low_pct)
      all.push_back(Make(kernel, LowBandwidth(kernel)));
    if (kernel.achieved_occupancy_pct < kLines.achieved_occupancy_pct)
      all.push_back(Make(kernel, LowOccupancy(kernel)));
    if (kernel.warp_efficiency_pct < kLines.warp_efficiency_pct) all.push_back(Make(kernel, Divergent(kernel)));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Bottleneck& a, const Bottleneck& b) { return a.severity > b.severity; });
  return all;
}

// Turns rows of table measured_kernels into metrics, judges them, and adds the place and time of each kernel.

namespace {

constexpr size_t kMaxVerdicts = 5, kMaxLimits = 2;
constexpr double kHotLine = 0.1;  // share of a launch's samples that names a line

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

// Adds what holds the kernel back, the costliest first, each with its advice. The gain: at least nothing, at most what
// the costliest can save, and we expect half of it, as a kernel that waits for less of one thing waits for more of
// another. Without a timeline the kernel's part of a step is not known, and so nothing is promised.
void AddLimits(const KernelLimitsRows& limits, int64_t launch, const LedgerView& ledger, Bottleneck& found) {
  std::optional<double> most;
  size_t added = 0;
  for (size_t row = 0; row < limits.rows() && added < kMaxLimits; ++row) {
    if (limits.Int(row, "launch_index") != launch) continue;
    const double saves = limits.Real(row, "saves_share");
    if (!most) most = saves;
    found.evidence.push_back(
        {.text = StrCat(limits.Text(row, "what"), ": up to ", FormatPercent(saves), " of its time"),
         .value = saves,
         .unit = "share",
         .table = "kernel_limits"});
    const std::string_view advice = limits.Text(row, "advice");
    if (std::ranges::find(found.recommendations, advice, &Recommendation::text) == found.recommendations.end())
      found.recommendations.push_back({std::string(advice), "", "", "days"});
    ++added;
  }
  if (!most || !found.share_of_step || ledger.total.wall_ns <= 0 || found.gain) return;
  const double at_stake = *found.share_of_step * *most * static_cast<double>(ledger.total.wall_ns);
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = 0,
                             .expected_ns = at_stake / 2,
                             .high_ns = at_stake,
                             .confidence = 0.4});
}

// Returns the first row that is about the launch of a row of measured_kernels; rows(): there is none.
template <class Rows>
size_t FirstOfLaunch(const Rows& rows, const MeasuredKernelsRows& kernels, size_t kernel) {
  size_t row = 0;
  while (row < rows.rows() && (rows.Int(row, "launch_index") != kernels.Int(kernel, "launch_index") ||
                               rows.Int(row, "trace") != kernels.Int(kernel, "trace")))
    ++row;
  return row;
}

// Adds where the kernel stands under the roofs of its GPU, in the precision nearest to its peak.
void AddRoofline(const KernelRooflineRows& roofs, size_t row, Bottleneck& found) {
  if (row >= roofs.rows() || roofs.IsNull(row, "ceiling_share")) return;
  const double share = roofs.Real(row, "ceiling_share");
  const bool memory = roofs.Text(row, "bound") == "memory";
  found.evidence.push_back(
      {.text = StrCat("it computes ", FormatNumber(roofs.Real(row, "tflops"), 2), " TFLOP/s (",
                      roofs.Text(row, "precision"), ") with ", FormatNumber(roofs.Real(row, "intensity"), 2),
                      " FLOP for each byte from memory: ", FormatPercent(share), " of the ",
                      FormatNumber(roofs.Real(row, "ceiling_tflops"), 2), " TFLOP/s that ",
                      memory ? "memory allows at that" : "its units allow"),
       .value = share,
       .unit = "share",
       .table = "kernel_roofline"});
}

// Adds the line, else the instruction, that holds most samples, if it holds many.
void AddHotLine(const KernelHotLinesRows& lines, size_t row, Bottleneck& found) {
  if (row >= lines.rows() || !(lines.Real(row, "share") >= kHotLine)) return;
  const double share = lines.Real(row, "share");
  std::string text = lines.IsNull(row, "line")
                         ? StrCat("the instruction at byte ", lines.Int(row, "pc"), " of its code")
                         : StrCat("line ", lines.Int(row, "line"), " of ", Printable(lines.Text(row, "file")));
  text += StrCat(" holds ", FormatPercent(share), " of the samples of its warps");
  if (!lines.IsNull(row, "waits_for"))
    text += StrCat("; ", FormatPercent(lines.Real(row, "stall_share")), " of these wait for ",
                   lines.Text(row, "waits_for"));
  found.evidence.push_back({.text = std::move(text), .value = share, .unit = "share", .table = "kernel_hot_lines"});
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
  const auto limits = tables.Get<KernelLimitsRows>();
  const auto roofs = tables.Get<KernelRooflineRows>();
  const auto lines = tables.Get<KernelHotLinesRows>();
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
      AddLimits(limits, kernels.Int(row, "launch_index"), ledger, found);
      AddRoofline(roofs, FirstOfLaunch(roofs, kernels, row), found);
      AddHotLine(lines, FirstOfLaunch(lines, kernels, row), found);
      all.push_back(std::move(found));
    }
  }
  std::ranges::stable_sort(all, [](const Bottleneck& a, const Bottleneck& b) { return a.severity > b.severity; });
  if (all.size() > kMaxVerdicts) all.resize(kMaxVerdicts);
  return all;
}

}  // namespace gapless::internal
