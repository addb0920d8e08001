// SPDX-License-Identifier: Apache-2.0
// The NVIDIA management library, opened at run time. Declares the few functions and structs that are used, as the
// library's interface documents them; a function that this driver does not have is null.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace gapless::internal::nvml {

using Device = struct DeviceOpaque*;
using Return = int;
inline constexpr Return kSuccess = 0, kNotSupported = 3, kNoPermission = 4, kInsufficientSize = 7;
inline constexpr unsigned kClockGraphics = 0, kClockSm = 1, kClockMemory = 2;
inline constexpr unsigned kPcieSent = 0, kPcieReceived = 1;
inline constexpr unsigned kEccCorrected = 0, kEccUncorrected = 1, kEccSinceBoot = 0;
inline constexpr unsigned kFieldNvlinkSentKib = 138, kFieldNvlinkReceivedKib = 139, kAllLinks = ~0U;
inline constexpr uint64_t kMemoryNotKnown = ~uint64_t{0};

struct Utilization {
  unsigned gpu, memory;  // per cent
};
struct Memory {
  unsigned long long total, free, used;
};
struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};
struct Process {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
};
struct FieldValue {
  unsigned field, scope;
  long long timestamp_us, latency_us;
  int type;
  Return result;
  union {
    double real;
    unsigned u32;
    unsigned long u;
    unsigned long long u64;
    long long i64;
  } value;
};
static_assert(sizeof(FieldValue) == 40 && sizeof(Process) == 24 && sizeof(PciInfo) == 68);

// Every function by its own name without the prefix.
// NOLINTBEGIN(readability-identifier-naming)
struct Functions {
  Return (*Init_v2)();
  Return (*Shutdown)();
  const char* (*ErrorString)(Return);
  Return (*SystemGetDriverVersion)(char*, unsigned);
  Return (*SystemGetCudaDriverVersion)(int*);
  Return (*DeviceGetCount_v2)(unsigned*);
  Return (*DeviceGetHandleByIndex_v2)(unsigned, Device*);
  Return (*DeviceGetName)(Device, char*, unsigned);
  Return (*DeviceGetUUID)(Device, char*, unsigned);
  Return (*DeviceGetPciInfo_v3)(Device, PciInfo*);
  Return (*DeviceGetUtilizationRates)(Device, Utilization*);
  Return (*DeviceGetMemoryInfo)(Device, Memory*);
  Return (*DeviceGetClockInfo)(Device, unsigned, unsigned*);
  Return (*DeviceGetMaxClockInfo)(Device, unsigned, unsigned*);
  Return (*DeviceGetPowerUsage)(Device, unsigned*);            // mW
  Return (*DeviceGetEnforcedPowerLimit)(Device, unsigned*);    // mW
  Return (*DeviceGetPowerManagementLimit)(Device, unsigned*);  // mW, as it is set
  Return (*DeviceGetPowerManagementDefaultLimit)(Device, unsigned*);
  Return (*DeviceGetPowerManagementLimitConstraints)(Device, unsigned*, unsigned*);    // least and most
  Return (*DeviceSetPowerManagementLimit)(Device, unsigned);                           // needs root
  Return (*DeviceGetSupportedMemoryClocks)(Device, unsigned*, unsigned*);              // how many, MHz
  Return (*DeviceGetSupportedGraphicsClocks)(Device, unsigned, unsigned*, unsigned*);  // with a clock of the memory
  Return (*DeviceGetApplicationsClock)(Device, unsigned, unsigned*);                   // MHz, as it is set
  Return (*DeviceSetGpuLockedClocks)(Device, unsigned, unsigned);                      // MHz; needs root
  Return (*DeviceResetGpuLockedClocks)(Device);
  Return (*DeviceGetTotalEnergyConsumption)(Device, unsigned long long*);  // mJ since the driver was loaded
  Return (*DeviceGetTemperature)(Device, unsigned, unsigned*);
  Return (*DeviceGetCurrentClocksThrottleReasons)(Device, unsigned long long*);
  Return (*DeviceGetPcieThroughput)(Device, unsigned, unsigned*);  // KB/s over 20 ms, during which it blocks
  Return (*DeviceGetCurrPcieLinkGeneration)(Device, unsigned*);
  Return (*DeviceGetCurrPcieLinkWidth)(Device, unsigned*);
  Return (*DeviceGetMaxPcieLinkGeneration)(Device, unsigned*);
  Return (*DeviceGetMaxPcieLinkWidth)(Device, unsigned*);
  Return (*DeviceGetFieldValues)(Device, int, FieldValue*);
  Return (*DeviceGetTotalEccErrors)(Device, unsigned, unsigned, unsigned long long*);
  Return (*DeviceGetEccMode)(Device, unsigned*, unsigned*);
  Return (*DeviceGetMigMode)(Device, unsigned*, unsigned*);
  Return (*DeviceGetPersistenceMode)(Device, unsigned*);
  Return (*DeviceGetComputeRunningProcesses_v3)(Device, unsigned*, Process*);
};
// NOLINTEND(readability-identifier-naming)

// The reasons for clocks below the chip's maximum, one bit each.
struct ClockReason {
  uint64_t bit;
  const char* name;
};
inline constexpr ClockReason kClockReasons[] = {
    {0x1, "idle"},        {0x2, "clocks_setting"}, {0x4, "power_cap"},
    {0x8, "hw_slowdown"}, {0x10, "sync_boost"},    {0x20, "sw_thermal"},
    {0x40, "hw_thermal"}, {0x80, "power_brake"},   {0x100, "display_clocks"},
};
// The reasons that slow work down: heat, the power supply, and brakes of the hardware. A power cap is not among
// them.
inline constexpr uint64_t kSlowingReasons = 0x8 | 0x20 | 0x40 | 0x80;

// The opened library, initialised; shut down when the last owner goes.
class Library {
 public:
  // An error says why NVML is missing: no library, no driver, no permission.
  static Result<std::shared_ptr<const Library>> Open(const std::string& name);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const Functions& call() const { return functions_; }
  const std::vector<Device>& devices() const { return devices_; }  // by NVML's number; null: not to be reached

  std::string driver_version() const;  // "" when not known, as below
  std::string NameOf(Device device) const;
  std::string UuidOf(Device device) const;
  std::string PciBusIdOf(Device device) const;  // as in /sys/bus/pci/devices: "0000:17:00.0"

 private:
  Library() = default;
  void* handle_ = nullptr;
  Functions functions_{};
  bool initialised_ = false;
  std::vector<Device> devices_;
};

// Returns one value of a device by a function that gives it through its last argument; nullopt when the function
// is missing in this driver, the device cannot be reached, or the driver refuses.
template <class T>
std::optional<T> Ask(Return (*function)(Device, T*), Device device) {
  T value{};
  if (function == nullptr || device == nullptr || function(device, &value) != kSuccess) return std::nullopt;
  return value;
}
template <class T>
std::optional<T> Ask(Return (*function)(Device, unsigned, T*), Device device, unsigned which) {
  T value{};
  if (function == nullptr || device == nullptr || function(device, which, &value) != kSuccess) return std::nullopt;
  return value;
}
template <class T>
std::optional<T> Ask(Return (*function)(Device, unsigned, unsigned, T*), Device device, unsigned which,
                     unsigned since) {
  T value{};
  if (function == nullptr || device == nullptr || function(device, which, since, &value) != kSuccess)
    return std::nullopt;
  return value;
}

}  // namespace gapless::internal::nvml
