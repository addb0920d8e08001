// SPDX-License-Identifier: Apache-2.0
// Checks that the NVIDIA driver can be used: its library opens, and all of its GPUs can be reached.
#include <algorithm>

#include "base/strings.h"
#include "collect/doctor/check.h"
#include "collect/telemetry/proc.h"

namespace gapless::internal::driver_doctorcheck {
namespace {

// A display or compute controller (PCI class 0x03) of vendor 0x10de.
bool HasNvidiaHardware(const std::string& sys) {
  const std::string folder = sys + "/bus/pci/devices";
  for (const std::string& name : NamesIn(folder))
    if (ReadLineOf(StrCat(folder, '/', name, "/vendor")) == "0x10de" &&
        ReadLineOf(StrCat(folder, '/', name, "/class")).starts_with("0x03"))
      return true;
  return false;
}

// A machine without NVIDIA's hardware is unknown, not a problem; hardware without a usable driver is a problem.
std::vector<HealthFinding> Look(const Surroundings& around) {
  constexpr std::string_view kSubject = "NVIDIA driver";
  if (around.nvml != nullptr) {
    const auto& devices = around.nvml->devices();
    const std::string saw =
        StrCat(around.nvml->driver_version(), ", ", devices.size(), devices.size() == 1 ? " GPU" : " GPUs");
    const auto lost = std::count(devices.begin(), devices.end(), nullptr);
    if (devices.empty())
      return {{Health::kUnknown, std::string(kSubject), saw, "the driver is there, but shows no GPU to this process",
               "in a container: docker run --gpus all; under Slurm: --gpus=1"}};
    if (lost > 0)
      return {{Health::kProblem, std::string(kSubject), StrCat(saw, ", ", lost, " of them cannot be reached"),
               "a GPU that fell off the bus fails every job that is given it", "nvidia-smi; then restart the machine"}};
    return {{Health::kOk, std::string(kSubject), saw, "", ""}};
  }
  const bool has_module = ReadSmallFile(around.sources.proc + "/driver/nvidia/version").has_value();
  if (!has_module && !HasNvidiaHardware(around.sources.sys))
    return {
        {Health::kUnknown, std::string(kSubject), "no NVIDIA GPU on this machine", "profiles show the host only", ""}};
  return {{Health::kProblem, std::string(kSubject), around.nvml_error.message,
           "there is a GPU, but programs cannot use it", around.nvml_error.hint}};
}

}  // namespace

DOCTORCHECK(driver) = {.name = "driver", .help = "NVIDIA driver and management library", .look = Look};

}  // namespace gapless::internal::driver_doctorcheck
