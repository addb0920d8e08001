// SPDX-License-Identifier: Apache-2.0
// Checks why clocks are below their maximum. Idle (bit 0x1) and a power cap are normal; heat, power supply and
// brakes are warned about, and so is a lower clock set by somebody (bit 0x2).
#include "base/strings.h"
#include "collect/doctor/check.h"

namespace gapless::internal::gpu_clocks_doctorcheck {
namespace {

std::vector<HealthFinding> Look(const Surroundings& around) {
  return ForEachGpu(around, [&](size_t number, nvml::Device device) -> std::optional<HealthFinding> {
    const auto& call = around.nvml->call();
    const auto reasons = nvml::Ask(call.DeviceGetCurrentClocksThrottleReasons, device);
    if (!reasons) return std::nullopt;
    const auto now = nvml::Ask(call.DeviceGetClockInfo, device, nvml::kClockSm);
    const auto most = nvml::Ask(call.DeviceGetMaxClockInfo, device, nvml::kClockSm);
    std::string saw = now && most ? StrCat(*now, " of ", *most, " MHz") : "not throttled";
    std::string names;
    for (const auto& reason : nvml::kClockReasons)
      if ((*reasons & reason.bit) != 0 && reason.bit != 0x1) names += StrCat(names.empty() ? "" : ", ", reason.name);
    if (!names.empty()) saw += StrCat(", held by ", names);
    if ((*reasons & nvml::kSlowingReasons) != 0)
      return HealthFinding{Health::kWarning, "clocks", saw,
                           "heat or the power supply slows the GPU, so times depend on temperature and load",
                           StrCat("nvidia-smi -i ", number, " -q -d PERFORMANCE,TEMPERATURE,POWER")};
    if ((*reasons & 0x2) != 0)
      return HealthFinding{Health::kWarning, "clocks", saw,
                           "clocks are set below what the GPU can do: good for comparing, slow for training",
                           StrCat("sudo nvidia-smi -i ", number, " -rgc -rac")};
    return HealthFinding{Health::kOk, "clocks", saw, "", ""};
  });
}

}  // namespace

DOCTORCHECK(gpu_clocks) = {
    .name = "gpu_clocks", .help = "Clocks that are held down: heat, power, settings", .look = Look};

}  // namespace gapless::internal::gpu_clocks_doctorcheck
