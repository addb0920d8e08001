// SPDX-License-Identifier: Apache-2.0
// Measured kernels under the roofs of their GPU, from hardware counters: what Nsight Compute's roofline charts show.
//
// The charts' definitions: work is instructions of threads that were not switched off, a fused multiply-add counted
// twice (of two halves: each instruction has two elements); per second it is the sum per cycle times cycles a second.
// A peak is the same of the units when they are always busy, at the clock while the kernel was measured, which ncu
// holds at the base clock unless told otherwise: peaks are lower than those of a data sheet. Traffic is that of device
// memory. Work of matrix units is counted by ncu in operations where the GPU has such counters, else in instructions of
// 512 operations.
#include "analyses/rows/kernel_roofline.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/launch_counters.h"
#include "base/strings.h"

namespace gapless::internal::kernel_roofline_analysis {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kNsPerSecond = 1e9, kTera = 1e12, kGiga = 1e9;
constexpr double kTensorOperations = 512;  // of an instruction of matrix units, as ncu counts where it has no better
constexpr std::string_view kTensorPath = "sm__ops_path_tensor_src_", kTensorWork = ".sum.per_second";

// Ordinary units: their instructions are named after the letter of the type.
struct Precision {
  std::string_view name, letter;
  double elements = 1;  // of an instruction
};
constexpr Precision kPrecisions[] = {{"fp64", "d"}, {"fp32", "f"}, {"fp16", "h", 2}};

struct Roof {
  std::string precision{};
  double work = 0, peak = kNan;  // FLOP a second
};

// Speeds gives the counts per second. A counter is taken per cycle, as the sections of rooflines have it, or as a
// total.
class Speeds {
 public:
  explicit Speeds(const LaunchCounters& of) : of_(of) {
    for (const std::string_view name : {"gpu__time_duration.sum", "gpu__time_duration.avg"})
      if (!duration_ns_) duration_ns_ = of.Get(name);
  }

  std::optional<double> duration_ns() const { return duration_ns_; }

  // Bytes from and to device memory, a second.
  std::optional<double> Traffic() const {
    if (const auto all = of_.Get("dram__bytes.sum.per_second")) return all;
    if (const auto all = PerSecond(of_.Get("dram__bytes.sum"))) return all;
    for (const std::string_view what : {".per_second", ""}) {
      const auto read = of_.Get(StrCat("dram__bytes_read.sum", what)),
                 written = of_.Get(StrCat("dram__bytes_write.sum", what));
      if (read && written) return what.empty() ? PerSecond(*read + *written) : *read + *written;
    }
    return std::nullopt;
  }
  std::optional<double> PeakTraffic() const {
    return Product(of_.Get("dram__bytes.sum.peak_sustained"), of_.Get("dram__cycles_elapsed.avg.per_second"));
  }

  // Work of ordinary units: nothing where no instruction of the type was counted.
  std::optional<double> Work(const Precision& of) const {
    std::optional<double> work;
    for (const auto& [kind, flops] : {std::pair("add", 1.0), std::pair("mul", 1.0), std::pair("fma", 2.0)})
      if (const auto count = Instructions(StrCat(of.letter, kind))) work = work.value_or(0) + *count * flops;
    if (work) *work *= of.elements;
    return work;
  }
  std::optional<double> Peak(const Precision& of) const {
    const auto fused =
        of_.Get(StrCat("sm__sass_thread_inst_executed_op_", of.letter, "fma_pred_on.sum.peak_sustained"));
    const auto each = Product(fused, of_.Get("sm__cycles_elapsed.avg.per_second"));
    return each ? std::optional(*each * 2 * of.elements) : std::nullopt;
  }

  std::vector<Roof> Tensor() const {
    std::vector<Roof> roofs;
    for (const auto& [name, value] : of_.all()) {
      if (!name.starts_with(kTensorPath) || !name.ends_with(kTensorWork) || name.ends_with(kElapsedPeak)) continue;
      const std::string_view type =
          name.substr(kTensorPath.size(), name.size() - kTensorPath.size() - kTensorWork.size());
      if (type.starts_with("int")) continue;  // not floating point
      const auto peak = of_.Get(StrCat(kTensorPath, type, kElapsedPeak));
      roofs.push_back({StrCat("tensor_", type), value, peak.value_or(kNan)});
    }
    if (!roofs.empty()) return roofs;
    const auto work = Product(of_.Get("smsp__inst_executed_pipe_tensor.sum.per_cycle_elapsed"), Cycles());
    const auto peak = Product(of_.Get("sm__inst_executed_pipe_tensor.sum.peak_sustained"),
                              of_.Get("sm__cycles_elapsed.avg.per_second"));
    if (work) roofs.push_back({"tensor", *work * kTensorOperations, peak.value_or(kNan) * kTensorOperations});
    return roofs;
  }

 private:
  static constexpr std::string_view kElapsedPeak = ".sum.peak_sustained_elapsed.per_second";

  static std::optional<double> Product(std::optional<double> a, std::optional<double> b) {
    return a && b ? std::optional(*a * *b) : std::nullopt;
  }
  std::optional<double> PerSecond(std::optional<double> total) const {
    if (!total || !duration_ns_ || *duration_ns_ <= 0) return std::nullopt;
    return *total / *duration_ns_ * kNsPerSecond;
  }
  std::optional<double> Cycles() const {
    const auto cycles = of_.Get("smsp__cycles_elapsed.avg.per_second");
    return cycles ? cycles : of_.Get("sm__cycles_elapsed.avg.per_second");
  }
  // Instructions of threads, a second: "ffma".
  std::optional<double> Instructions(std::string_view operation) const {
    for (const std::string_view unit : {"smsp", "sm"}) {
      const std::string name = StrCat(unit, "__sass_thread_inst_executed_op_", operation, "_pred_on.sum");
      if (const auto all = Product(of_.Get(StrCat(name, ".per_cycle_elapsed")), Cycles())) return all;
      if (const auto all = of_.Get(StrCat(name, ".per_second"))) return all;
      if (const auto all = PerSecond(of_.Get(name))) return all;
    }
    return std::nullopt;
  }

  const LaunchCounters& of_;
  std::optional<double> duration_ns_{};
};

// Returns the precisions in which a launch computes, the one nearest to its peak first.
std::vector<Roof> RoofsOf(const Speeds& speeds) {
  std::vector<Roof> roofs = speeds.Tensor();
  for (const Precision& precision : kPrecisions)
    if (const auto work = speeds.Work(precision))
      roofs.push_back({std::string(precision.name), *work, speeds.Peak(precision).value_or(kNan)});
  std::erase_if(roofs, [](const Roof& roof) { return !(roof.work > 0); });
  std::ranges::stable_sort(roofs, [](const Roof& a, const Roof& b) {
    return (std::isnan(a.peak) ? 0 : a.work / a.peak) > (std::isnan(b.peak) ? 0 : b.work / b.peak);
  });
  return roofs;
}

void AddRow(const Roof& roof, const Speeds& speeds, TableOf<KernelRooflineRows>::RowWriter& row) {
  const double traffic = speeds.Traffic().value_or(kNan), peak_traffic = speeds.PeakTraffic().value_or(kNan);
  const double intensity = traffic > 0 ? roof.work / traffic : kNan, slope = intensity * peak_traffic;
  row.Set("precision", roof.precision).Set("tflops", roof.work / kTera).Set("gbps", traffic / kGiga);
  row.Set("intensity", intensity).Set("peak_tflops", roof.peak / kTera).Set("peak_gbps", peak_traffic / kGiga);
  if (!(slope > 0) || !(roof.peak > 0)) return;
  const double ceiling = std::min(roof.peak, slope);
  row.Set("ceiling_tflops", ceiling / kTera).Set("ceiling_share", roof.work / ceiling);
  row.Set("bound", slope < roof.peak ? "memory" : "compute");
}

Result<Table> Compute(const Run& run, Tables&) {
  TableOf<KernelRooflineRows> table;
  for (const RunTrace& of : run.traces()) {
    const std::vector<MeasuredLaunch> launches = MeasuredLaunches(*of.trace);
    double all_ns = 0;
    for (const MeasuredLaunch& launch : launches) all_ns += Speeds(launch.counters).duration_ns().value_or(0);
    for (const MeasuredLaunch& launch : launches) {
      const Speeds speeds(launch.counters);
      const double duration_ns = speeds.duration_ns().value_or(kNan);
      for (const Roof& roof : RoofsOf(speeds)) {
        auto row = table.Row(of);
        row.Set("launch_index", launch.index).Set("kernel_name", launch.kernel).Set("duration_ns", duration_ns);
        row.Set("share", all_ns > 0 ? duration_ns / all_ns : kNan);
        AddRow(roof, speeds, row);
      }
    }
  }
  return table;
}

}  // namespace

ANALYSIS(kernel_roofline) = AnalysisOf<KernelRooflineRows>({.run = Compute});

}  // namespace gapless::internal::kernel_roofline_analysis
