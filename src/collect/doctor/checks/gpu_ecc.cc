// SPDX-License-Identifier: Apache-2.0
// Checks for memory errors since the driver was loaded. Corrected errors are shown but no problem.
#include "base/strings.h"
#include "collect/doctor/check.h"

namespace gapless::internal::gpu_ecc_doctorcheck {
namespace {

std::vector<HealthFinding> Look(const Surroundings& around) {
  return ForEachGpu(around, [&](size_t number, nvml::Device device) -> std::optional<HealthFinding> {
    const auto& call = around.nvml->call();
    unsigned now = 0, pending = 0;
    if (call.DeviceGetEccMode == nullptr || call.DeviceGetEccMode(device, &now, &pending) != nvml::kSuccess)
      return std::nullopt;
    if (now == 0) return HealthFinding{Health::kOk, "ECC errors", "not watched (ECC is off)", "", ""};
    const auto corrected = nvml::Ask(call.DeviceGetTotalEccErrors, device, nvml::kEccCorrected, nvml::kEccSinceBoot);
    const auto uncorrected =
        nvml::Ask(call.DeviceGetTotalEccErrors, device, nvml::kEccUncorrected, nvml::kEccSinceBoot);
    if (!corrected || !uncorrected) return std::nullopt;
    const std::string saw = StrCat(*corrected, " corrected, ", *uncorrected, " not corrected since the start");
    if (*uncorrected == 0) return HealthFinding{Health::kOk, "ECC errors", saw, "", ""};
    return HealthFinding{Health::kProblem, "ECC errors", saw, "memory that loses bits ends jobs and can spoil results",
                         StrCat("nvidia-smi -i ", number, " -q -d ECC,ROW_REMAPPER; then reset or replace the GPU")};
  });
}

}  // namespace

DOCTORCHECK(gpu_ecc) = {.name = "gpu_ecc", .help = "Memory errors of each GPU", .look = Look};

}  // namespace gapless::internal::gpu_ecc_doctorcheck
