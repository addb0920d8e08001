// SPDX-License-Identifier: Apache-2.0
// More than half of the GPU's memory is never used, while the GPU is not busy: a larger batch would fit.
//
// The gain: a batch of twice the size halves what the host does for a sample, and so at most half of the time in which
// the GPU is not busy; we expect a quarter, and at least nothing. Assumptions: `gapless predict --what batch=N` and
// `gapless tune batch` know better.
#include <algorithm>

#include "analyses/rows/gpu_state.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/gpu_state_view.h"
#include "diagnose/rule.h"

namespace gapless::internal::gpu_unused_memory_rule {
namespace {

// Ours: twice the batch fits for certain where half of the memory is free, and helps where the host holds the GPU up.
constexpr double kUnusedMemoryShare = 0.50;
constexpr double kUnusedMemoryIdleShare = 0.20;

constexpr std::string_view kNeeds[] = {"gpu_state"};

// The GPU that used the largest share of its memory: all others have as much left.
std::optional<size_t> Fullest(const GpuStateRows& gpus) {
  std::optional<size_t> fullest;
  double most = -1;
  for (size_t row = 0; row < gpus.rows(); ++row) {
    const bool known = !gpus.IsNull(row, "memory_peak_bytes") && !gpus.IsNull(row, "memory_bytes") &&
                       !gpus.IsNull(row, "utilization_share") && gpus.Int(row, "samples") >= kFewestGpuSamples;
    if (!known || gpus.Int(row, "memory_bytes") <= 0) return std::nullopt;
    const double used = gpus.Real(row, "memory_peak_bytes") / static_cast<double>(gpus.Int(row, "memory_bytes"));
    if (used > most) most = used, fullest = row;
  }
  return fullest;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const auto gpus = tables.Get<GpuStateRows>();
  const std::optional<size_t> fullest = Fullest(gpus);
  // Samples alone do not say that there is a batch to make larger: gpu_samples_alone has what they say.
  const bool program = std::ranges::any_of(tables.run().traces(), [](const RunTrace& of) {
    return of.trace->slices.size() + of.trace->gpu_ops.size() + of.trace->steps.size() > 0;
  });
  if (!fullest || !program) return std::vector<Bottleneck>{};
  const auto peak = static_cast<int64_t>(gpus.Real(*fullest, "memory_peak_bytes"));
  const int64_t all = gpus.Int(*fullest, "memory_bytes");
  const double unused = 1 - static_cast<double>(peak) / static_cast<double>(all);
  const double idle = 1 - std::min(1.0, gpus.Real(*fullest, "utilization_share"));
  if (unused < kUnusedMemoryShare || idle < kUnusedMemoryIdleShare) return std::vector<Bottleneck>{};
  Bottleneck found;
  found.share_of_step = idle / 2;
  found.title =
      StrCat("a batch of twice the size would fit: ", FormatPercent(unused), " of the GPU memory is never used");
  found.description = StrCat("At its peak the run uses ", FormatBytes(peak), " of ", FormatBytes(all), ", and for ",
                             FormatPercent(idle), " of the time no kernel runs. A larger batch has the host ",
                             "do less for each sample. It may change what the model learns.");
  found.evidence.push_back(
      {.text = StrCat("peak ", FormatBytes(peak), " of ", FormatBytes(all), ", GPU ", gpus.Int(*fullest, "device")),
       .value = unused,
       .unit = "share",
       .table = "gpu_state"});
  found.recommendations.push_back({"try a batch of twice the size, with the learning rate to fit it", "",
                                   "gapless tune batch -- python train.py", "hours"});
  const int64_t span_ns = gpus.Int(*fullest, "span_ns");
  const double idle_ns = static_cast<double>(span_ns) * idle;
  found.gain = EstimateGain(
      {.wall_ns = span_ns, .low_ns = 0, .expected_ns = idle_ns / 4, .high_ns = idle_ns / 2, .confidence = 0.2});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(gpu_unused_memory) = {
    .id = "gpu_unused_memory",
    .type = BottleneckType::kSmallBatch,
    .title = "Half of the GPU memory is never used, and the GPU is not busy",
    .why =
        "Memory in use at its peak and mean utilisation, as telemetry samples them while the steps run. Reported where "
        "every GPU leaves half of its memory unused or more, and for 20 % of the time or more no kernel runs.",
    .saves = "0, ¼, ½ of the idle time",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::gpu_unused_memory_rule
