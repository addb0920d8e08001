// SPDX-License-Identifier: Apache-2.0
// Checks the width of each GPU's PCIe link against what GPU and slot can do.
#include "base/strings.h"
#include "collect/doctor/check.h"

namespace gapless::internal::gpu_pcie_doctorcheck {
namespace {

std::vector<HealthFinding> Look(const Surroundings& around) {
  return ForEachGpu(around, [&](size_t number, nvml::Device device) -> std::optional<HealthFinding> {
    const auto& call = around.nvml->call();
    const auto width = nvml::Ask(call.DeviceGetCurrPcieLinkWidth, device);
    const auto most = nvml::Ask(call.DeviceGetMaxPcieLinkWidth, device);
    const auto generation = nvml::Ask(call.DeviceGetCurrPcieLinkGeneration, device);
    const auto newest = nvml::Ask(call.DeviceGetMaxPcieLinkGeneration, device);
    if (!width || !most || !generation || !newest) return std::nullopt;
    // An idle GPU lowers the generation to save power, never the width.
    const std::string saw = StrCat("x", *width, " gen ", *generation, " now, x", *most, " gen ", *newest, " at most");
    if (*width >= *most) return HealthFinding{Health::kOk, "PCIe", saw, "", ""};
    return HealthFinding{Health::kWarning, "PCIe", saw,
                         StrCat("copies between host and GPU run at ",
                                FormatPercent(static_cast<double>(*width) / *most), " of the speed"),
                         StrCat("nvidia-smi -i ", number, " -q | grep -A9 'GPU Link Info'; then check slot and riser")};
  });
}

}  // namespace

DOCTORCHECK(gpu_pcie) = {.name = "gpu_pcie", .help = "Width and generation of the PCIe link of each GPU", .look = Look};

}  // namespace gapless::internal::gpu_pcie_doctorcheck
