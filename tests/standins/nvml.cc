// SPDX-License-Identifier: Apache-2.0
// A library that answers like libnvidia-ml.so.1 of a machine with two GPUs, for tests on machines without any. Values
// do not change, except energy and the NVLink totals, which grow with every question. The second GPU is lost: nothing
// can be asked of it. GAPLESS_STANDIN_NVML=no_driver makes it fail as it does without a driver; =no_gpu shows no GPU.
//
// GAPLESS_STANDIN_BOARDS=FILE has it answer for the GPUs of that file instead, whose power follows from their limit.
// All processes of a test map the file: one Board after the other.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

constexpr int kSuccess = 0, kInvalidArgument = 2, kNotSupported = 3, kDriverNotLoaded = 9, kGpuIsLost = 15,
              kInsufficientSize = 7;
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

// A GPU under load. Its clock is the highest, up to 1, at which idle + dynamic · clock^exponent is below the limit, and
// no higher than the lock or the applications clock.
constexpr double kMostMhz = 1980, kLeastMhz = 210, kStepMhz = 15;
struct Board {
  double limit_w, joules, since_s;  // joules: until since_s, when a setting changed; seconds of the epoch
  double least_w, most_w, usual_w, idle_w, dynamic_w, exponent;
  double pid;                                                 // of the only process on it; 0: none
  double refuses, has_mig;                                    // refuses: what a change of a setting is answered
  double lock_mhz, applications_mhz, has_no_reasons, unused;  // 0: none is set

  double Clock() const {
    double most = 1;
    if (lock_mhz > 0)
      most = lock_mhz / kMostMhz;
    else if (applications_mhz > 0)
      most = applications_mhz / kMostMhz;
    const double clock = std::pow(std::max(0.0, limit_w - idle_w) / dynamic_w, 1 / exponent);
    return std::clamp(clock, std::min(0.2, most), most);
  }
  double Watts() const { return idle_w + dynamic_w * std::pow(Clock(), exponent); }
};
constexpr double kCounterUpdateS = 0.02;

struct BoardFile {
  int file = -1;
  unsigned count = 0;
  Board* boards = nullptr;
  BoardFile() {
    const char* path = std::getenv("GAPLESS_STANDIN_BOARDS");
    struct stat status {};
    if (path == nullptr || (file = open(path, O_RDWR | O_CLOEXEC)) < 0 || fstat(file, &status) != 0) return;
    void* map = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (map == MAP_FAILED) return;
    boards = static_cast<Board*>(map);
    count = static_cast<unsigned>(static_cast<size_t>(status.st_size) / sizeof(Board));
  }
};
BoardFile& Boards() {
  static BoardFile file;
  return file;
}
// The board of a handle; null: the handle is of the GPUs that do not change.
Board* BoardOf(void* device) { return device == &first_gpu ? nullptr : static_cast<Board*>(device); }
unsigned Milli(double value) { return static_cast<unsigned>(std::lround(value * 1000)); }
double Now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

}  // namespace

#define STANDIN extern "C" __attribute__((visibility("default")))

STANDIN int nvmlInit_v2() { return Mode("no_driver") ? kDriverNotLoaded : kSuccess; }
STANDIN int nvmlShutdown() { return kSuccess; }
STANDIN const char* nvmlErrorString(int result) {
  return result == kDriverNotLoaded ? "Driver Not Loaded" : "Unknown Error";
}
STANDIN int nvmlSystemGetDriverVersion(char* out, unsigned size) { return Give(out, size, "570.86.15"); }
STANDIN int nvmlSystemGetCudaDriverVersion(int* out) { return *out = 12080, kSuccess; }
STANDIN int nvmlDeviceGetCount_v2(unsigned* out) {
  if (Boards().boards != nullptr) return Give(out, Boards().count);
  return Give(out, Mode("no_gpu") ? 0 : 2);
}
STANDIN int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** out) {
  if (index < Boards().count) return *out = &Boards().boards[index], kSuccess;
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
STANDIN int nvmlDeviceGetClockInfo(void* device, unsigned which, unsigned* out) {
  const Board* board = BoardOf(device);
  if (board != nullptr && which < 2) return Give(out, static_cast<unsigned>(std::lround(board->Clock() * kMostMhz)));
  return Give(out, which == 1 ? 1410 : 1593);
}
STANDIN int nvmlDeviceGetApplicationsClock(void* device, unsigned, unsigned* out) {
  const Board* board = BoardOf(device);
  if (board == nullptr || board->applications_mhz == 0) return kNotSupported;
  return Give(out, static_cast<unsigned>(board->applications_mhz));
}
STANDIN int nvmlDeviceGetSupportedMemoryClocks(void* device, unsigned* count, unsigned* out) {
  if (BoardOf(device) == nullptr) return kNotSupported;
  if (*count < 2) return *count = 2, kInsufficientSize;
  return *count = 2, out[0] = 2619, out[1] = 405, kSuccess;
}
STANDIN int nvmlDeviceGetSupportedGraphicsClocks(void* device, unsigned memory, unsigned* count, unsigned* out) {
  if (BoardOf(device) == nullptr) return kNotSupported;
  const double most = memory == 2619 ? kMostMhz : 405;  // of a GPU at rest
  const auto all = static_cast<unsigned>((most - kLeastMhz) / kStepMhz) + 1;
  if (*count < all) return *count = all, kInsufficientSize;
  *count = all;
  for (unsigned i = 0; i < all; ++i) out[i] = static_cast<unsigned>(most - i * kStepMhz);
  return kSuccess;
}
STANDIN int nvmlDeviceGetMaxClockInfo(void*, unsigned, unsigned* out) { return Give(out, 1980); }
STANDIN int nvmlDeviceGetPowerUsage(void*, unsigned* out) { return Give(out, 312'500); }
STANDIN int nvmlDeviceGetPowerManagementLimit(void* device, unsigned* out) {
  const Board* board = BoardOf(device);
  return board == nullptr ? kNotSupported : Give(out, Milli(board->limit_w));
}
STANDIN int nvmlDeviceGetPowerManagementDefaultLimit(void* device, unsigned* out) {
  const Board* board = BoardOf(device);
  return board == nullptr ? kNotSupported : Give(out, Milli(board->usual_w));
}
STANDIN int nvmlDeviceGetPowerManagementLimitConstraints(void* device, unsigned* least, unsigned* most) {
  const Board* board = BoardOf(device);
  if (board == nullptr) return kNotSupported;
  *most = Milli(board->most_w);
  return Give(least, Milli(board->least_w));
}
// Changes a setting: what was counted until now stays.
static int Change(void* device, double Board::*setting, double value) {
  Board* board = BoardOf(device);
  if (board == nullptr) return kNotSupported;
  if (board->refuses != 0) return static_cast<int>(board->refuses);
  flock(Boards().file, LOCK_EX);
  const double now = Now();
  board->joules += board->Watts() * (now - board->since_s);
  board->since_s = now, board->*setting = value;
  flock(Boards().file, LOCK_UN);
  return kSuccess;
}
STANDIN int nvmlDeviceSetPowerManagementLimit(void* device, unsigned milliwatts) {
  return Change(device, &Board::limit_w, milliwatts / 1000.0);
}
STANDIN int nvmlDeviceSetGpuLockedClocks(void* device, unsigned least, unsigned most) {
  return least != most ? kInvalidArgument : Change(device, &Board::lock_mhz, most);
}
STANDIN int nvmlDeviceResetGpuLockedClocks(void* device) { return Change(device, &Board::lock_mhz, 0); }
STANDIN int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* out) { return Give(out, 400'000); }
STANDIN int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* out) {
  if (const Board* board = BoardOf(device)) {
    const double updated = std::floor(Now() / kCounterUpdateS) * kCounterUpdateS;
    const double joules = board->joules + board->Watts() * std::max(0.0, updated - board->since_s);
    return *out = static_cast<unsigned long long>(joules * 1000), kSuccess;
  }
  return *out = energy_mj += 5000, kSuccess;
}
STANDIN int nvmlDeviceGetTemperature(void*, unsigned, unsigned* out) { return Give(out, 71); }
STANDIN int nvmlDeviceGetCurrentClocksEventReasons(void* device, unsigned long long* out) {
  if (const Board* board = BoardOf(device)) {
    if (board->has_no_reasons != 0) return kNotSupported;
    return *out = board->lock_mhz > 0 || board->applications_mhz > 0 ? 0x2 : 0, kSuccess;
  }
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
STANDIN int nvmlDeviceGetMigMode(void* device, unsigned* now, unsigned* pending) {
  const Board* board = BoardOf(device);
  if (board == nullptr) return kNotSupported;
  return *now = *pending = static_cast<unsigned>(board->has_mig), kSuccess;
}
STANDIN int nvmlDeviceGetPersistenceMode(void*, unsigned* out) { return Give(out, 0); }
STANDIN int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, Process* out) {
  if (const Board* board = BoardOf(device)) {
    out[0] = {static_cast<unsigned>(board->pid), 1'000'000'000ULL, 0, 0};
    return *count = board->pid != 0 ? 1 : 0, kSuccess;
  }
  if (*count < 2) return *count = 2, kInsufficientSize;
  out[0] = {4242, 15'000'000'000ULL, 0, 0}, out[1] = {7, 1'000'000'000ULL, 0, 0};
  *count = 2;
  return kSuccess;
}
