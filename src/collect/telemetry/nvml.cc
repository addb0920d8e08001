// SPDX-License-Identifier: Apache-2.0
// Opens libnvidia-ml at run time and looks up each function. A function that is missing in this driver stays null,
// and callers go without its value. A GPU that does not answer is null in the list, which keeps the numbers of the
// others.
#include "collect/telemetry/nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "base/strings.h"

namespace gapless::internal::nvml {
namespace {

template <class F>
void Find(void* handle, const char* name, F*& out) {
  out = reinterpret_cast<F*>(dlsym(handle, name));
}

void FindAll(void* handle, Functions& f) {
#define GAPLESS_NVML_FIND(name) Find(handle, "nvml" #name, f.name)
  GAPLESS_NVML_FIND(Init_v2);
  GAPLESS_NVML_FIND(Shutdown);
  GAPLESS_NVML_FIND(ErrorString);
  GAPLESS_NVML_FIND(SystemGetDriverVersion);
  GAPLESS_NVML_FIND(SystemGetCudaDriverVersion);
  GAPLESS_NVML_FIND(DeviceGetCount_v2);
  GAPLESS_NVML_FIND(DeviceGetHandleByIndex_v2);
  GAPLESS_NVML_FIND(DeviceGetName);
  GAPLESS_NVML_FIND(DeviceGetUUID);
  GAPLESS_NVML_FIND(DeviceGetPciInfo_v3);
  GAPLESS_NVML_FIND(DeviceGetUtilizationRates);
  GAPLESS_NVML_FIND(DeviceGetMemoryInfo);
  GAPLESS_NVML_FIND(DeviceGetClockInfo);
  GAPLESS_NVML_FIND(DeviceGetMaxClockInfo);
  GAPLESS_NVML_FIND(DeviceGetPowerUsage);
  GAPLESS_NVML_FIND(DeviceGetEnforcedPowerLimit);
  GAPLESS_NVML_FIND(DeviceGetPowerManagementLimit);
  GAPLESS_NVML_FIND(DeviceGetPowerManagementDefaultLimit);
  GAPLESS_NVML_FIND(DeviceGetPowerManagementLimitConstraints);
  GAPLESS_NVML_FIND(DeviceSetPowerManagementLimit);
  GAPLESS_NVML_FIND(DeviceGetSupportedMemoryClocks);
  GAPLESS_NVML_FIND(DeviceGetSupportedGraphicsClocks);
  GAPLESS_NVML_FIND(DeviceGetApplicationsClock);
  GAPLESS_NVML_FIND(DeviceSetGpuLockedClocks);
  GAPLESS_NVML_FIND(DeviceResetGpuLockedClocks);
  GAPLESS_NVML_FIND(DeviceGetTotalEnergyConsumption);
  GAPLESS_NVML_FIND(DeviceGetTemperature);
  GAPLESS_NVML_FIND(DeviceGetCurrentClocksThrottleReasons);
  GAPLESS_NVML_FIND(DeviceGetPcieThroughput);
  GAPLESS_NVML_FIND(DeviceGetCurrPcieLinkGeneration);
  GAPLESS_NVML_FIND(DeviceGetCurrPcieLinkWidth);
  GAPLESS_NVML_FIND(DeviceGetMaxPcieLinkGeneration);
  GAPLESS_NVML_FIND(DeviceGetMaxPcieLinkWidth);
  GAPLESS_NVML_FIND(DeviceGetFieldValues);
  GAPLESS_NVML_FIND(DeviceGetTotalEccErrors);
  GAPLESS_NVML_FIND(DeviceGetEccMode);
  GAPLESS_NVML_FIND(DeviceGetMigMode);
  GAPLESS_NVML_FIND(DeviceGetPersistenceMode);
  GAPLESS_NVML_FIND(DeviceGetComputeRunningProcesses_v3);
#undef GAPLESS_NVML_FIND
  if (f.DeviceGetCurrentClocksThrottleReasons == nullptr)  // its newer name
    Find(handle, "nvmlDeviceGetCurrentClocksEventReasons", f.DeviceGetCurrentClocksThrottleReasons);
}

}  // namespace

Result<std::shared_ptr<const Library>> Library::Open(const std::string& name) {
  std::shared_ptr<Library> library(new Library);
  library->handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library->handle_ == nullptr)
    return Fail(ErrorCode::kEnvironment, "the NVIDIA management library is not installed", name,
                "it comes with the NVIDIA driver; in a container, pass the GPUs in (--gpus all)");
  Functions& call = library->functions_;
  FindAll(library->handle_, call);
  if (call.Init_v2 == nullptr || call.Shutdown == nullptr || call.DeviceGetCount_v2 == nullptr ||
      call.DeviceGetHandleByIndex_v2 == nullptr)
    return Fail(ErrorCode::kEnvironment, "the NVIDIA management library lacks functions that are needed", name,
                "install a newer NVIDIA driver");
  if (const Return result = call.Init_v2(); result != kSuccess)
    return Fail(ErrorCode::kEnvironment,
                StrCat("the NVIDIA driver does not answer: ",
                       call.ErrorString != nullptr ? call.ErrorString(result) : "no reason given"),
                name, "run nvidia-smi; after a driver update, restart the machine");
  library->initialised_ = true;
  unsigned count = 0;
  if (call.DeviceGetCount_v2(&count) != kSuccess) count = 0;
  library->devices_.resize(std::min(count, 256U));
  for (unsigned i = 0; i < library->devices_.size(); ++i)
    if (call.DeviceGetHandleByIndex_v2(i, &library->devices_[i]) != kSuccess) library->devices_[i] = nullptr;
  return std::shared_ptr<const Library>(std::move(library));
}

Library::~Library() {
  if (initialised_) functions_.Shutdown();
  if (handle_ != nullptr) dlclose(handle_);
}

std::string Library::driver_version() const {
  char text[96] = "";
  if (functions_.SystemGetDriverVersion == nullptr ||
      functions_.SystemGetDriverVersion(text, sizeof text - 1) != kSuccess)
    return "";
  return text;
}

std::string Library::NameOf(Device device) const {
  char text[112] = "";
  if (functions_.DeviceGetName == nullptr || functions_.DeviceGetName(device, text, sizeof text - 1) != kSuccess)
    return "";
  return text;
}

std::string Library::UuidOf(Device device) const {
  char text[112] = "";
  if (functions_.DeviceGetUUID == nullptr || functions_.DeviceGetUUID(device, text, sizeof text - 1) != kSuccess)
    return "";
  return text;
}

// NVML writes the domain with eight digits and letters in upper case.
std::string Library::PciBusIdOf(Device device) const {
  const auto pci = Ask(functions_.DeviceGetPciInfo_v3, device);
  if (!pci) return "";
  std::string id(pci->bus_id, strnlen(pci->bus_id, sizeof pci->bus_id));
  for (char& c : id) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return id.size() == 16 && id.starts_with("0000") ? id.substr(4) : id;
}

}  // namespace gapless::internal::nvml
