// SPDX-License-Identifier: Apache-2.0
// Model FLOPs utilisation of each device: FLOPs of products, convolutions and attention known from shapes, over the
// time of the window, against the dense peak of the type most of them have. What was not recorded (shapes, graph
// replays, generated kernels) is missing, so the figure is a lower bound unless `coverage` is 1. Work that activation
// checkpointing repeats is recorded as any other and counts.
#include "analyses/rows/compute_use.h"

#include <map>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/device_peaks.h"
#include "analyses/rows/matrix_work.h"
#include "analyses/rows/roofline.h"

namespace gapless::internal::compute_use_analysis {
namespace {

struct Sums {
  double flops = 0;
  int64_t known_ns = 0;
  std::map<std::string_view, double> by_type;
};

// The best the device can do with this type: TF32 counts for fp32 where there is any, it is a switch away.
double BestPeak(const DevicePeaks& peaks, std::string_view type) {
  const auto first = [](double a, double b) { return a > 0 ? a : b; };
  if (type == "fp64") return first(peaks.fp64_matrix, peaks.fp64);
  if (type == "fp32") return first(peaks.tf32, first(peaks.fp32_matrix, peaks.fp32));
  if (type == "fp16") return peaks.fp16;
  if (type == "bf16") return peaks.bf16;
  return type == "fp8" ? peaks.fp8 : DevicePeaks::kNone;
}

using DeviceKey = std::pair<int64_t, int64_t>;  // trace, device

std::map<DeviceKey, Sums> SumsOf(const RooflineRows& roofline) {
  std::map<DeviceKey, Sums> sums;
  for (size_t row = 0; row < roofline.rows(); ++row) {
    const std::string_view kind = roofline.Text(row, "kind");
    if ((kind != "gemm" && kind != "conv" && kind != "attention") || roofline.IsNull(row, "model_flops")) continue;
    Sums& of = sums[{roofline.Int(row, "trace"), roofline.Int(row, "device")}];
    const double flops = roofline.Real(row, "model_flops") * roofline.Real(row, "calls");
    of.flops += flops;
    of.known_ns += roofline.Int(row, "device_ns");
    of.by_type[roofline.Text(row, "dtype")] += flops;
  }
  return sums;
}

void AddRow(const TraceTimeline& timeline, const MatrixWorkRows& work, size_t work_row, const Sums& sums,
            int64_t known_kernel_ns, TableOf<ComputeUseRows>& table) {
  const int64_t wall_ns = timeline.window.span.length();
  const auto steps = static_cast<double>(timeline.window.steps.size());
  const auto most = std::max_element(sums.by_type.begin(), sums.by_type.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::string_view type = most == sums.by_type.end() ? std::string_view() : most->first;
  const std::string_view name = work.Text(work_row, "device_name");
  const DevicePeaks* peaks = FindDevicePeaks(name);
  const double peak = peaks == nullptr ? DevicePeaks::kNone : BestPeak(*peaks, type);
  auto row = table.Row(*timeline.of);
  row.Set("device", work.Int(work_row, "device")).Set("device_name", name).Set("wall_ns", wall_ns);
  if (sums.flops > 0 && wall_ns > 0) {
    const double tflops = sums.flops / static_cast<double>(wall_ns) / 1e3;
    row.Set("flops", sums.flops).Set("tflops", tflops).Set("mfu", tflops / peak);
    row.Set("busy_tflops", sums.flops / static_cast<double>(std::max<int64_t>(1, sums.known_ns)) / 1e3);
    if (steps > 0) row.Set("flops_per_step", sums.flops / steps);
  }
  row.Set("dtype", type).Set("peak_tflops", peak);
  row.Set("coverage_share",
          ShareOf(std::min(known_kernel_ns, work.Int(work_row, "matrix_ns")), work.Int(work_row, "matrix_ns")));
}

// Time of matrix kernels under operators of the roofline whose FLOPs are known, by device.
std::map<DeviceKey, int64_t> KnownKernelTime(const RooflineRows& roofline) {
  std::map<DeviceKey, int64_t> known;
  for (size_t row = 0; row < roofline.rows(); ++row)
    if (!roofline.IsNull(row, "model_flops"))
      known[{roofline.Int(row, "trace"), roofline.Int(row, "device")}] += roofline.Int(row, "matrix_ns");
  return known;
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<ComputeUseRows> table;
  const auto roofline = tables.Get<RooflineRows>();
  const auto work = tables.Get<MatrixWorkRows>();
  const std::map<DeviceKey, Sums> sums = SumsOf(roofline);
  const std::map<DeviceKey, int64_t> known = KnownKernelTime(roofline);
  size_t row = 0;  // matrix_work has one row per device, in the order of the timelines
  for (const TraceTimeline& timeline : tables.Timelines())
    for (size_t i = 0; i < timeline.devices.size(); ++i, ++row) {
      const DeviceKey key{work.Int(row, "trace"), work.Int(row, "device")};
      const auto found = sums.find(key);
      const auto time = known.find(key);
      AddRow(timeline, work, row, found == sums.end() ? Sums() : found->second, time == known.end() ? 0 : time->second,
             table);
    }
  return table;
}

}  // namespace

ANALYSIS(compute_use) = AnalysisOf<ComputeUseRows>({.run = Compute});

}  // namespace gapless::internal::compute_use_analysis
