// SPDX-License-Identifier: Apache-2.0
// A GPU runs slower than it can because it is too hot or its power supply gives way.
//
// The gain: computing takes as much longer as the clock is lower while it is throttled. Work that waits for memory does
// not follow the clock, so that at least nothing is won; we expect six tenths of what the clocks say.
#include <cmath>

#include "analyses/rows/gpu_state.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/gpu_state_view.h"
#include "diagnose/rule.h"

namespace gapless::internal::gpu_throttling_rule {
namespace {

// Ours: a GPU that is slowed down in more of a run's samples has another reason than one short event.
constexpr double kThrottledShare = 0.05;

constexpr std::string_view kNeeds[] = {"gpu_state"};
constexpr double kExpected = 0.6;

// The share of the GPU's time that its lower clock costs; nothing: the clocks are not known.
std::optional<double> LostShare(const GpuStateRows& gpus, size_t row) {
  if (gpus.IsNull(row, "throttled_clock_hz") || gpus.IsNull(row, "free_clock_hz")) return std::nullopt;
  const double throttled = gpus.Real(row, "throttled_clock_hz"), free = gpus.Real(row, "free_clock_hz");
  if (free <= 0 || throttled >= free) return 0.0;
  return gpus.Real(row, "throttled_share") * (1 - throttled / free);
}

std::string_view Because(std::string_view reason) {
  return reason == "power_brake" ? "its power supply asks for it" : "of heat";
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const auto gpus = tables.Get<GpuStateRows>();
  const std::optional<size_t> worst = WorstGpu(gpus, "throttled_share");
  if (!worst || gpus.Real(*worst, "throttled_share") < kThrottledShare) return std::vector<Bottleneck>{};
  const double share = gpus.Real(*worst, "throttled_share");
  const std::optional<double> lost = LostShare(gpus, *worst);
  const std::string_view reason = gpus.Text(*worst, "reason");
  Bottleneck found;
  found.share_of_step = lost.value_or(share);
  found.title = StrCat(WhichGpus(gpus, "throttled_share", kThrottledShare), " is slowed down because ",
                       reason == "power_brake" ? "the power supply asks for it" : "of heat", " for ",
                       FormatPercent(share), " of the run");
  found.description = StrCat("In ", FormatPercent(share), " of the samples the driver lowers the clock of GPU ",
                             gpus.Int(*worst, "device"), " because ", Because(reason), " (", reason, ").");
  std::string clocks;
  if (lost)
    clocks = StrCat("; the multiprocessors run at ", std::lround(gpus.Real(*worst, "throttled_clock_hz") / 1e6),
                    " MHz instead of ", std::lround(gpus.Real(*worst, "free_clock_hz") / 1e6), " MHz");
  std::string heat;
  if (!gpus.IsNull(*worst, "temperature_max"))
    heat = StrCat("; the highest temperature is ", std::lround(gpus.Real(*worst, "temperature_max")), " °C");
  found.evidence.push_back({.text = StrCat(FormatPercent(share), " of ", FormatCount(gpus.Int(*worst, "samples")),
                                           " samples are throttled", clocks, heat),
                            .value = share,
                            .unit = "share",
                            .table = "gpu_state"});
  found.recommendations.push_back(
      {reason == "power_brake" ? "look at the power supply of the host and of its rack"
                               : "look at the cooling: fans, air flow, neighbours, room temperature; gapless doctor",
       "", "nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER", "hours"});
  const auto wall = static_cast<double>(gpus.Int(*worst, "span_ns"));
  if (lost && *lost > 0)
    found.gain = EstimateGain({.wall_ns = gpus.Int(*worst, "span_ns"),
                               .low_ns = 0,
                               .expected_ns = wall * *lost * kExpected,
                               .high_ns = wall * *lost,
                               .confidence = 0.4});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(gpu_throttling) = {
    .id = "gpu_throttling",
    .type = BottleneckType::kKernelEfficiency,
    .title = "A GPU is slowed down by heat or its power supply",
    .why =
        "Throttle reasons that telemetry samples while the steps run: thermal slowdown by hardware or software, and "
        "the power brake. A power cap alone does not count: many GPUs run at it. Reported at 5 % of the samples of a "
        "GPU or more. The cost follows from how much lower the clock is in these samples than in the others.",
    .saves = "0, 6/10, all of what the lower clock costs",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::gpu_throttling_rule
