// SPDX-License-Identifier: Apache-2.0
// Checks whether a GPU is divided into instances (MIG): figures of the whole GPU do not fit an instance.
#include "base/strings.h"
#include "collect/doctor/check.h"

namespace gapless::internal::gpu_mig_doctorcheck {
namespace {

std::vector<HealthFinding> Look(const Surroundings& around) {
  return ForEachGpu(around, [&](size_t number, nvml::Device device) -> std::optional<HealthFinding> {
    const auto ask = around.nvml->call().DeviceGetMigMode;
    unsigned now = 0, pending = 0;
    if (ask == nullptr || ask(device, &now, &pending) != nvml::kSuccess) return std::nullopt;
    if (now == 0) return HealthFinding{Health::kOk, "MIG", "off", "", ""};
    return HealthFinding{Health::kWarning, "MIG", "on",
                         "a process sees a part of the GPU; use, power and clocks are of the whole",
                         StrCat("if this job should have it all: sudo nvidia-smi -i ", number, " -mig 0")};
  });
}

}  // namespace

DOCTORCHECK(gpu_mig) = {.name = "gpu_mig", .help = "Is a GPU divided into instances?", .look = Look};

}  // namespace gapless::internal::gpu_mig_doctorcheck
