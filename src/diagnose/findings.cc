// SPDX-License-Identifier: Apache-2.0
// Fills the RunSummary from the tables, and classifies the run by its largest part of the time.
#include "diagnose/findings.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "analyses/columns.h"
#include "analyses/rank_summary.h"
#include "analyses/rows/compute_use.h"
#include "analyses/rows/copies.h"
#include "analyses/rows/engine_steps.h"
#include "analyses/rows/gpu_state.h"
#include "analyses/rows/kernels.h"
#include "analyses/rows/matrix_work.h"
#include "analyses/rows/ranks.h"
#include "analyses/rows/roofline.h"
#include "analyses/rows/steps.h"
#include "base/strings.h"
#include "diagnose/host_step_view.h"
#include "diagnose/ledger_view.h"
#include "diagnose/run_traits.h"
#include "diagnose/screening.h"
#include "trace/table.h"

namespace gapless::internal {
namespace {

// Ours: share of the time from which one kind of waste gives the run its class; below it the largest part does.
constexpr double kClassShare = 0.30;
// Share of computing kernels' time in kernels that move data, from which a computing run is memory bound: the larger
// half.
constexpr double kMemoryBoundShare = 0.5;
// Ours: rows of a 16-bit product up to which reading its weights takes longer than multiplying them, on every device
// since the V100 (peak over bandwidth, 139 FLOP/byte on a V100, 156 on an A100, 295 on an H100; two FLOPs for two bytes
// a row).
constexpr double kMaxReadingRows = 128;
// FLOP/byte of a product below which it is bound by the memory of every such device, known or not.
constexpr double kLowIntensity = 50;

void SummariseSteps(const StepsRows& steps, const Run& run, RunSummary& summary) {
  std::vector<int64_t> times;
  std::map<int, int64_t> of_process;
  for (size_t row = 0; row < steps.rows(); ++row) {
    if (steps.Int(row, "complete") == 0 || steps.IsNull(row, "dur_ns")) continue;
    times.push_back(steps.Int(row, "dur_ns"));
    const int process = run.traces()[static_cast<size_t>(steps.Int(row, "trace"))].process;
    summary.steps = std::max(summary.steps, ++of_process[process]);
  }
  if (times.empty()) return;
  const int64_t median = Percentile(times, 0.5);
  summary.step_ns = StepTimes{median, median, Percentile(times, 0.95), Percentile(times, 0.99)};
}

std::optional<double> Ratio(int64_t part, int64_t whole) {
  if (whole <= 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

// The mean of a column of gpu_state over the GPUs that have a value; absent: none has.
std::optional<double> MeanOfGpus(const GpuStateRows& gpus, GpuStateRows::RealColumn column) {
  double sum = 0;
  int64_t count = 0;
  for (size_t row = 0; row < gpus.rows(); ++row)
    if (!gpus.IsNull(row, column)) sum += gpus.Real(row, column), ++count;
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

void SummariseUtilization(const GpuStateRows& gpus, RunSummary& summary) {
  struct Source {
    GpuStateRows::RealColumn column;
    std::string_view name;
  };
  constexpr Source kSources[] = {{"sm_active_share", "sm_active"}, {"utilization_share", "nvml"}};
  for (const auto& [column, source] : kSources) {
    summary.gpu_utilization = MeanOfGpus(gpus, column);
    summary.gpu_utilization_source = source;
    if (summary.gpu_utilization) break;
  }
  if (!summary.gpu_utilization) {
    summary.gpu_utilization = summary.gpu_busy_share;
    summary.gpu_utilization_source = summary.gpu_busy_share ? "busy_share" : "";
  }
  if (summary.gpu_utilization) *summary.gpu_utilization *= 100;
}

std::optional<double> PageableShare(const CopiesRows& copies) {
  int64_t pageable = 0, known = 0;
  for (size_t row = 0; row < copies.rows(); ++row) {
    if (copies.IsNull(row, "pageable")) continue;
    known += copies.Int(row, "total_ns");
    if (copies.Int(row, "pageable") == 1) pageable += copies.Int(row, "total_ns");
  }
  return Ratio(pageable, known);
}

void SummariseMatrixWork(const MatrixWorkRows& work, RunSummary& summary) {
  int64_t kernels = 0, matrix = 0, on = 0, off = 0;
  for (size_t row = 0; row < work.rows(); ++row) {
    kernels += work.Int(row, "kernel_ns"), matrix += work.Int(row, "matrix_ns");
    on += work.Int(row, "on_units_ns"), off += work.Int(row, "off_units_ns");
  }
  summary.matrix_time_share = Ratio(matrix, kernels);
  summary.matrix_unit_share = Ratio(on, on + off);
}

// FLOPs over what the devices could have done; only those whose work and peak are known count.
void SummariseComputeUse(const ComputeUseRows& use, RunSummary& summary) {
  double done = 0, possible = 0, covered = 0, wall = 0;
  for (size_t row = 0; row < use.rows(); ++row) {
    if (use.IsNull(row, "mfu")) continue;
    const auto ns = static_cast<double>(use.Int(row, "wall_ns"));
    done += use.Real(row, "tflops") * ns, possible += use.Real(row, "peak_tflops") * ns;
    covered += use.Real(row, "coverage_share") * ns, wall += ns;
  }
  if (possible <= 0) return;
  summary.mfu = done / possible;
  summary.mfu_coverage = covered / wall;
}

struct Waste {
  std::string_view run_class, limit, what;
  int64_t ns;
};

// Returns the share of computing kernels' time that moves data: that of kernels that mostly move data, and
// `reading_share` of products and convolutions; absent without such kernels.
std::optional<double> MovingShare(const KernelsRows& kernels, double reading_share) {
  int64_t moving = 0, all = 0, matrix = 0;
  for (size_t row = 0; row < kernels.rows(); ++row) {
    const std::string_view kind = kernels.Text(row, "class");
    if (kind == "communication") continue;
    all += kernels.Int(row, "total_ns");
    constexpr std::string_view kMoving[] = {"pointwise", "norm", "reduce", "gemv", "optimizer", "copy"};
    if (std::find(std::begin(kMoving), std::end(kMoving), kind) != std::end(kMoving))
      moving += kernels.Int(row, "total_ns");
    if (kind == "gemm" || kind == "conv") matrix += kernels.Int(row, "total_ns");
  }
  return Ratio(moving + std::llround(reading_share * static_cast<double>(matrix)), all);
}

// Returns the share of matrix kernels' time in products whose operands take longer to read than to multiply: few rows
// against many weights. By the roofline where shapes and device are known, and in an engine that only decodes.
double ReadingShare(Tables& tables) {
  const auto engine = tables.Get<EngineStepsRows>();
  bool decodes = engine.rows() > 0;
  for (size_t row = 0; row < engine.rows(); ++row)
    decodes = decodes && engine.Text(row, "phase") == "decode" &&
              engine.Real(row, "requests_per_iteration") <= kMaxReadingRows;
  if (decodes) return 1;
  const auto roofline = tables.Get<RooflineRows>();
  double memory = 0, known = 0;
  for (size_t row = 0; row < roofline.rows(); ++row) {
    if (roofline.IsNull(row, "intensity") || roofline.Int(row, "matrix_ns") == 0) continue;
    const bool is_known = !roofline.IsNull(row, "bound");  // else the device is not known
    const bool reads =
        is_known ? roofline.Text(row, "bound") == "memory" : roofline.Real(row, "intensity") < kLowIntensity;
    const auto ns = static_cast<double>(roofline.Int(row, "matrix_ns"));
    known += ns, memory += reads ? ns : 0;
  }
  return known > 0 ? memory / known : 0;
}

// A run that computes most of the time is bound by the memory when most of its kernels' time goes into moving data.
void ClassifyComputing(const LedgerView& ledger, const Waste& most, std::optional<double> moving, RunSummary& summary) {
  const bool memory = moving && *moving > kMemoryBoundShare;
  summary.run_class = memory ? "memory bound" : "compute bound";
  summary.limit = memory ? "GPU memory" : "GPU compute";
  summary.class_evidence =
      StrCat("the GPU computes for ", FormatPercent(ledger.Share(ledger.total.compute_ns)), " of the time",
             moving ? StrCat(", ", FormatPercent(*moving), " of it in kernels that mostly move data") : "",
             "; the largest waste, ", FormatPercent(ledger.Share(most.ns)), ", is ", most.what);
}

// Waiting in the first collectives that ranks recorded, while others still start their recorders: not the job's.
int64_t OpeningWaits(const RanksRows& ranks) {
  int64_t ns = 0;
  for (size_t row = 0; row < ranks.rows(); ++row) ns += ranks.Int(row, "opening_waiting_ns");
  return ns;
}

// Returns the verdict that the recording shows a cold start, or too little; null if it shows enough.
const Bottleneck* ColdStartOf(const Diagnosis& diagnosis) {
  for (const Bottleneck& bottleneck : diagnosis.bottlenecks)
    if (bottleneck.id == kWarmUp || bottleneck.id == kTooLittleWork) return &bottleneck;
  return nullptr;
}

// A run whose recording lacks operations of the GPU: what they took looks idle, so idling names nothing.
void ClassifyUnknown(const LedgerView& ledger, RunSummary& summary) {
  summary.run_class = "unknown";
  summary.class_evidence = StrCat(
      "operations of the GPU are missing from the recording, and what they took looks idle: the GPU is busy for at "
      "least ",
      FormatPercent(1 - ledger.Share(ledger.total.idle_ns)), " of the time");
}

// The name of a run that was only starting, or hardly did anything.
void ClassifyStart(const Bottleneck& cold, RunSummary& summary) {
  summary.run_class = cold.id == kWarmUp ? "warm-up" : "unknown";
  // The title begins with the verdict, which the class is.
  const size_t colon = cold.id == kWarmUp ? cold.title.find(": ") : std::string::npos;
  summary.class_evidence = colon == std::string::npos ? cold.title : cold.title.substr(colon + 2);
}

// The largest kind of waste names the class where it is large; else the largest of computing, communication, copies and
// idle time does, which are the bars that stand above the verdict.
void Classify(const LedgerView& ledger, Tables& tables, RunSummary& summary) {
  const DeviceBreakdown& total = ledger.total;
  const int64_t comm_ns = total.exposed_comm_ns - OpeningWaits(tables.Get<RanksRows>());
  const Waste wastes[] = {
      {"input bound", "I/O", "idle while the host loads data", total.idle_data_ns},
      {"launch bound", "CPU", "idle while the host launches work", total.idle_launch_ns},
      {"sync bound", "CPU", "idle while the host is in calls that block", total.idle_sync_ns},
      {"host bound", "CPU", "idle while the host runs other code", total.idle_host_ns},
      {"unknown", "", "idle, and the recording does not show why", total.idle_unknown_ns},
      {"communication bound", "communication", "in communication that no computation hides", comm_ns},
      {"copy bound", "I/O", "in copies that nothing hides", total.exposed_copy_ns}};
  constexpr size_t kIdleWastes = 5;
  const std::span all(wastes);
  const auto idle = all.first<kIdleWastes>();
  const Waste* most = &*std::ranges::max_element(all, {}, &Waste::ns);
  if (ledger.Share(most->ns) < kClassShare) {
    if (total.compute_ns >= std::max({comm_ns, total.exposed_copy_ns, total.idle_ns}))
      return ClassifyComputing(ledger, *most, MovingShare(tables.Get<KernelsRows>(), ReadingShare(tables)), summary);
    if (total.idle_ns > std::max(comm_ns, total.exposed_copy_ns))
      most = &*std::ranges::max_element(idle, {}, &Waste::ns);
  }
  if (summary.gpu_busy_is_least && most < all.data() + kIdleWastes) return ClassifyUnknown(ledger, summary);
  summary.run_class = most->run_class;
  summary.limit = most->limit;
  summary.class_evidence = StrCat("the GPU spends ", FormatPercent(ledger.Share(most->ns)), " of the time ", most->what,
                                  "; it computes for ", FormatPercent(ledger.Share(total.compute_ns)));
}

void SummariseHost(Tables& tables, RunSummary& summary) {
  const HostStepView view(tables);
  if (!view.applies_to_all(tables)) return;
  const HostStepsRows& rows = view.table();
  for (size_t row = 0; row < rows.rows(); ++row) {
    HostBreakdown& host = summary.host_breakdown.emplace_back();
    host.trace = rows.Int(row, "trace"), host.steps = rows.Int(row, "steps");
    if (!rows.IsNull(row, "rank")) host.rank = rows.Int(row, "rank");
    host.wall_ns = rows.Int(row, "wall_ns");
    host.operator_ns = rows.Int(row, "operator_ns"), host.optimizer_ns = rows.Int(row, "optimizer_ns");
    host.collective_ns = rows.Int(row, "collective_ns"), host.data_ns = rows.Int(row, "data_ns");
    host.python_ns = rows.Int(row, "python_ns"), host.save_ns = rows.Int(row, "save_ns");
    host.gc_ns = rows.Int(row, "gc_ns"), host.compile_ns = rows.Int(row, "compile_ns");
  }
}

}  // namespace

RunSummary Summarise(Tables& tables, const Diagnosis& diagnosis, std::optional<int64_t> single_step_ns) {
  RunSummary summary;
  for (const RunTrace* run_trace : tables.run().primary())
    if (run_trace->rank() != kAbsent) summary.ranks.push_back(run_trace->rank());
  std::sort(summary.ranks.begin(), summary.ranks.end());
  summary.ranks.erase(std::unique(summary.ranks.begin(), summary.ranks.end()), summary.ranks.end());
  const Bottleneck* recording = ColdStartOf(diagnosis);
  if (recording == nullptr || recording->id != kTooLittleWork) summary.workload = ToString(WorkloadOf(tables.run()));
  SummariseSteps(tables.Get<StepsRows>(), tables.run(), summary);
  SummariseMatrixWork(tables.Get<MatrixWorkRows>(), summary);
  SummariseComputeUse(tables.Get<ComputeUseRows>(), summary);
  summary.scaling = ScalingEfficiency(tables.Get<RanksRows>(), single_step_ns);
  summary.pageable_share = PageableShare(tables.Get<CopiesRows>());
  const LedgerView& ledger = ReadLedger(tables);
  summary.breakdown = ledger.devices;
  summary.total = ledger.total;
  if (ledger.total.wall_ns > 0) summary.gpu_busy_share = 1 - ledger.Share(ledger.total.idle_ns);
  if (ledger.step_rows > 0)
    summary.mean_step_ns = static_cast<double>(ledger.total.wall_ns) / static_cast<double>(ledger.step_rows);
  SummariseUtilization(tables.Get<GpuStateRows>(), summary);
  summary.gpu_busy_is_least = std::ranges::any_of(
      diagnosis.bottlenecks, [](const Bottleneck& bottleneck) { return bottleneck.id == kLostWork; });
  if (ledger.total.wall_ns == 0) {
    SummariseHost(tables, summary);
    return summary;
  }
  recording != nullptr ? ClassifyStart(*recording, summary) : Classify(ledger, tables, summary);
  return summary;
}

namespace {

bool Has(const std::vector<std::string>& ids, const std::string& id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

Diagnosis Choose(Diagnosis diagnosis, const AnalyzeOptions& options) {
  std::erase_if(diagnosis.bottlenecks, [&](const Bottleneck& bottleneck) {
    return (!options.only.empty() && !Has(options.only, bottleneck.id)) || Has(options.without, bottleneck.id);
  });
  return diagnosis;
}

Findings Conclude(Tables& tables, Diagnosis diagnosis, const AnalyzeOptions& options) {
  Findings findings{.diagnosis = std::move(diagnosis), .summary = {}, .cost = {}};
  findings.summary = Summarise(tables, findings.diagnosis, options.single_step_ns);
  findings.cost = CostOf(tables.run(), findings.summary, options.rates);
  return findings;
}

}  // namespace gapless::internal
