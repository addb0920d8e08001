// SPDX-License-Identifier: Apache-2.0
// A library that answers like libnvidia-ml.so.1 of a machine with two GPUs, for tests on machines without any. Values
// do not change, except energy and the NVLink totals, which grow with every question. The second GPU is lost: nothing
// can be asked of it. GAPLESS_STANDIN_NVML=no_driver makes it fail as it does without a driver; =no_gpu shows no GPU.
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

constexpr int kSuccess = 0, kNotSupported = 3, kDriverNotLoaded = 9, kGpuIsLost = 15, kInsufficientSize = 7;
unsigned long long energy_mj = 1'000'000, nvlink_kib = 1000;
int first_gpu = 0;  // its address is the handle

bool Mode(std::string_view mode) {
  const char* set = std::getenv("GAPLESS_STANDIN_NVML");
  return set != nullptr && mode == set;
}
int Give(unsigned* out, unsigned value) {
  *out = value;
  return kSuccess;
}
int Give(char* out, unsigned size, const char* text) {
  std::strncpy(out, text, size);
  return kSuccess;
}

struct Pci {
  char legacy[16];
  unsigned numbers[5];
  char bus_id[32];
};
struct Process {
  unsigned pid;
  unsigned long long bytes;
  unsigned instance, compute;
};
struct Field {
  unsigned field, scope;
  long long times[2];
  int type, result;
  unsigned long long value;
};

}  // namespace

#define STANDIN extern "C" __attribute__((visibility("default")))

STANDIN int nvmlInit_v2() { return Mode("no_driver") ? kDriverNotLoaded : kSuccess; }
STANDIN int nvmlShutdown() { return kSuccess; }
STANDIN const char* nvmlErrorString(int result) {
  return result == kDriverNotLoaded ? "Driver Not Loaded" : "Unknown Error";
}
STANDIN int nvmlSystemGetDriverVersion(char* out, unsigned size) { return Give(out, size, "570.86.15"); }
STANDIN int nvmlSystemGetCudaDriverVersion(int* out) { return *out = 12080, kSuccess; }
STANDIN int nvmlDeviceGetCount_v2(unsigned* out) { return Give(out, Mode("no_gpu") ? 0 : 2); }
STANDIN int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** out) {
  if (index != 0) return kGpuIsLost;
  *out = &first_gpu;
  return kSuccess;
}
STANDIN int nvmlDeviceGetName(void*, char* out, unsigned size) { return Give(out, size, "NVIDIA Stand-in"); }
STANDIN int nvmlDeviceGetUUID(void*, char* out, unsigned size) { return Give(out, size, "GPU-1234"); }
STANDIN int nvmlDeviceGetPciInfo_v3(void*, Pci* out) {
  std::strcpy(out->bus_id, "00000000:3B:00.0");
  return kSuccess;
}
STANDIN int nvmlDeviceGetUtilizationRates(void*, unsigned* out) { return out[0] = 75, out[1] = 40, kSuccess; }
STANDIN int nvmlDeviceGetMemoryInfo(void*, unsigned long long* out) {
  return out[0] = 80'000'000'000ULL, out[1] = 60'000'000'000ULL, out[2] = 20'000'000'000ULL, kSuccess;
}
STANDIN int nvmlDeviceGetClockInfo(void*, unsigned which, unsigned* out) { return Give(out, which == 1 ? 1410 : 1593); }
STANDIN int nvmlDeviceGetMaxClockInfo(void*, unsigned, unsigned* out) { return Give(out, 1980); }
STANDIN int nvmlDeviceGetPowerUsage(void*, unsigned* out) { return Give(out, 312'500); }
STANDIN int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* out) { return Give(out, 400'000); }
STANDIN int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* out) {
  return *out = energy_mj += 5000, kSuccess;
}
STANDIN int nvmlDeviceGetTemperature(void*, unsigned, unsigned* out) { return Give(out, 71); }
STANDIN int nvmlDeviceGetCurrentClocksEventReasons(void*, unsigned long long* out) {
  return *out = 0x4 | 0x20, kSuccess;
}
STANDIN int nvmlDeviceGetPcieThroughput(void*, unsigned way, unsigned* out) {
  return Give(out, way == 0 ? 1'000'000 : 2'500'000);
}
STANDIN int nvmlDeviceGetCurrPcieLinkGeneration(void*, unsigned* out) { return Give(out, 4); }
STANDIN int nvmlDeviceGetCurrPcieLinkWidth(void*, unsigned* out) { return Give(out, 8); }
STANDIN int nvmlDeviceGetMaxPcieLinkGeneration(void*, unsigned* out) { return Give(out, 4); }
STANDIN int nvmlDeviceGetMaxPcieLinkWidth(void*, unsigned* out) { return Give(out, 16); }
STANDIN int nvmlDeviceGetFieldValues(void*, int count, Field* fields) {
  for (int i = 0; i < count; ++i) {
    fields[i].result = fields[i].field == 138 ? kSuccess : kNotSupported;
    fields[i].value = nvlink_kib += 1024;
  }
  return kSuccess;
}
STANDIN int nvmlDeviceGetTotalEccErrors(void*, unsigned type, unsigned, unsigned long long* out) {
  return *out = type == 0 ? 3 : 0, kSuccess;
}
STANDIN int nvmlDeviceGetEccMode(void*, unsigned* now, unsigned* pending) {
  *pending = 1;
  return Give(now, 1);
}
STANDIN int nvmlDeviceGetMigMode(void*, unsigned*, unsigned*) { return kNotSupported; }
STANDIN int nvmlDeviceGetPersistenceMode(void*, unsigned* out) { return Give(out, 0); }
STANDIN int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, Process* out) {
  if (*count < 2) return *count = 2, kInsufficientSize;
  out[0] = {4242, 15'000'000'000ULL, 0, 0}, out[1] = {7, 1'000'000'000ULL, 0, 0};
  *count = 2;
  return kSuccess;
}
