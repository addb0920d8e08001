// SPDX-License-Identifier: Apache-2.0
// A library that answers like libamd_smi.so of a machine with two GPUs, in a socket each: at 0000:c1:00.0, which counts
// its energy, and at 0000:03:00.0, which does not. GAPLESS_STANDIN_AMD=no_driver makes it fail as without a driver.
#include <cstdint>
#include <cstdlib>

namespace {

constexpr int kSuccess = 0, kInvalid = 1, kNotSupported = 2, kDriverNotLoaded = 34;
constexpr uint64_t kAddresses[] = {0xc100, 0x0300};  // bus in bits 8 to 15
int sockets[2], gpus[2];                             // their addresses are the handles
uint64_t counted = 0;

int NumberOf(const void* handle, const int (&among)[2]) {
  for (int i = 0; i < 2; ++i)
    if (handle == &among[i]) return i;
  return -1;
}

}  // namespace

#define STANDIN extern "C" __attribute__((visibility("default")))

STANDIN int amdsmi_init(uint64_t) {
  return std::getenv("GAPLESS_STANDIN_AMD") != nullptr ? kDriverNotLoaded : kSuccess;
}
STANDIN int amdsmi_shut_down() { return kSuccess; }
STANDIN int amdsmi_get_socket_handles(uint32_t* count, void** out) {
  if (*count < 2) return kInvalid;
  *count = 2;
  for (int i = 0; i < 2; ++i) out[i] = &sockets[i];
  return kSuccess;
}
STANDIN int amdsmi_get_processor_handles(void* socket, uint32_t* count, void** out) {
  const int number = NumberOf(socket, sockets);
  if (number < 0 || *count < 1) return kInvalid;
  *count = 1;
  out[0] = &gpus[number];
  return kSuccess;
}
STANDIN int amdsmi_get_gpu_bdf_id(void* gpu, uint64_t* out) {
  const int number = NumberOf(gpu, gpus);
  return number < 0 ? kInvalid : (*out = kAddresses[number], kSuccess);
}
// Each question finds a million counts more, of 15.3 µJ.
STANDIN int amdsmi_get_energy_count(void* gpu, uint64_t* count, float* microjoules, uint64_t* at_ns) {
  if (NumberOf(gpu, gpus) != 0) return kNotSupported;
  *count = counted += 1'000'000, *microjoules = 15.3F, *at_ns = 0;
  return kSuccess;
}
