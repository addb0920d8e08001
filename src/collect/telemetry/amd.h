// SPDX-License-Identifier: Apache-2.0
// AMD GPUs as the kernel's driver (amdgpu) shows them in files, and their energy by AMD's management library,
// libamd_smi. Files and library are joined by the PCI address.
//
// The library's structures differ from version to version, so only functions whose arguments are numbers are called.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gapless::internal::amd {

struct Gpu {
  std::string address{}, folder{}, sensors{};  // "0000:c1:00.0"; sensors: hwmon's folder; empty: it has none
};
// The GPUs under a folder that is like /sys, by their PCI address, as ROCm counts them.
std::vector<Gpu> GpusUnder(const std::string& sys);
// The address that a number means. Its bits: 32–63 domain, 8–15 bus, 3–7 device, 0–2 function.
std::string AddressOf(uint64_t id);
// The number in a file times a factor; absent: there is no such file, or no number in it.
std::optional<double> NumberIn(const std::string& file, double factor);

// AMD's management library, opened at run time.
class SmiLibrary {
 public:
  // Null: it is not installed, or does not answer. Its GPUs are then without energy.
  static std::shared_ptr<const SmiLibrary> Open(const std::string& name);
  ~SmiLibrary();
  SmiLibrary(const SmiLibrary&) = delete;
  SmiLibrary& operator=(const SmiLibrary&) = delete;

  // The GPU at a PCI address ("0000:c1:00.0"); null: the library does not have it.
  void* At(std::string_view address) const;
  // J; absent: this GPU does not count its energy.
  std::optional<double> Joules(void* gpu) const;

 private:
  SmiLibrary() = default;
  bool FindAll();
  bool Init();
  void AddSocket(void* socket);

  // All functions return 0 where they succeed.
  void* handle_ = nullptr;
  bool initialised_ = false;
  int (*init_)(uint64_t) = nullptr;
  int (*shut_down_)() = nullptr;
  int (*sockets_)(uint32_t*, void**) = nullptr;
  int (*processors_)(void*, uint32_t*, void**) = nullptr;
  int (*address_)(void*, uint64_t*) = nullptr;
  int (*energy_)(void*, uint64_t*, float*, uint64_t*) = nullptr;
  std::vector<std::pair<std::string, void*>> gpus_{};
};

}  // namespace gapless::internal::amd
