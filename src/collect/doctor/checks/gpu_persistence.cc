// SPDX-License-Identifier: Apache-2.0
// Checks whether the driver stays loaded between jobs.
#include "base/strings.h"
#include "collect/doctor/check.h"

namespace gapless::internal::gpu_persistence_doctorcheck {
namespace {

std::vector<HealthFinding> Look(const Surroundings& around) {
  return ForEachGpu(around, [&](size_t number, nvml::Device device) -> std::optional<HealthFinding> {
    const auto mode = nvml::Ask(around.nvml->call().DeviceGetPersistenceMode, device);
    if (!mode) return std::nullopt;
    if (*mode != 0) return HealthFinding{Health::kOk, "persistence", "on", "", ""};
    return HealthFinding{Health::kWarning, "persistence", "off",
                         "the driver unloads between jobs: starting takes seconds, and clocks and settings are lost",
                         StrCat("sudo nvidia-smi -i ", number, " -pm 1")};
  });
}

}  // namespace

DOCTORCHECK(gpu_persistence) = {.name = "gpu_persistence", .help = "Persistence mode of each GPU", .look = Look};

}  // namespace gapless::internal::gpu_persistence_doctorcheck
