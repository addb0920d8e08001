// SPDX-License-Identifier: Apache-2.0
// Finds the cards of amdgpu, and opens libamd_smi with the GPUs that it knows.
#include "collect/telemetry/amd.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/strings.h"
#include "collect/files.h"
#include "collect/telemetry/proc.h"

namespace gapless::internal::amd {
namespace {

constexpr uint64_t kGpusOnly = 1U << 1;
constexpr uint32_t kMostHandles = 256;
constexpr double kMicroJoule = 1e-6;

template <class F>
bool FindSmi(void* handle, const char* name, F*& out) {
  out = reinterpret_cast<F*>(dlsym(handle, name));
  return out != nullptr;
}

// "PCI_SLOT_NAME=0000:c1:00.0" of the device's uevent; empty: it is no device of a PCI bus.
std::string AddressIn(const std::string& folder) {
  constexpr std::string_view kKey = "PCI_SLOT_NAME=";
  const std::string text = ReadSmallFile(folder + "/uevent").value_or("");
  for (const std::string_view line : Lines(text))
    if (line.starts_with(kKey)) return std::string(line.substr(kKey.size()));
  return "";
}

}  // namespace

std::vector<Gpu> GpusUnder(const std::string& sys) {
  std::vector<Gpu> gpus;
  const std::string cards = sys + "/class/drm";
  for (const std::string& name : NamesIn(cards)) {
    if (!name.starts_with("card") || name.find('-') != std::string::npos) continue;  // card0-DP-1 is an outlet of it
    Gpu gpu{.folder = StrCat(cards, '/', name, "/device")};
    if (ReadLineOf(gpu.folder + "/vendor") != "0x1002") continue;
    gpu.address = AddressIn(gpu.folder);
    if (gpu.address.empty()) continue;
    const auto sensors = NamesIn(gpu.folder + "/hwmon");
    if (!sensors.empty()) gpu.sensors = StrCat(gpu.folder, "/hwmon/", sensors.front());
    gpus.push_back(std::move(gpu));
  }
  std::ranges::sort(gpus, {}, &Gpu::address);
  return gpus;
}

std::string AddressOf(uint64_t id) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.%x", static_cast<unsigned>(id >> 32),
                static_cast<unsigned>(id >> 8 & 0xff), static_cast<unsigned>(id >> 3 & 0x1f),
                static_cast<unsigned>(id & 7));
  return text.data();
}

std::optional<double> NumberIn(const std::string& file, double factor) {
  const auto value = ToReal(ReadLineOf(file));
  return value ? std::optional(*value * factor) : std::nullopt;
}

std::shared_ptr<const SmiLibrary> SmiLibrary::Open(const std::string& name) {
  std::shared_ptr<SmiLibrary> library(new SmiLibrary);
  library->handle_ = name.empty() ? nullptr : dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  return library->handle_ != nullptr && library->FindAll() && library->Init() ? library : nullptr;
}

SmiLibrary::~SmiLibrary() {
  if (initialised_) shut_down_();
  if (handle_ != nullptr) dlclose(handle_);
}

void* SmiLibrary::At(std::string_view address) const {
  for (const auto& [known, gpu] : gpus_)
    if (known == address) return gpu;
  return nullptr;
}

std::optional<double> SmiLibrary::Joules(void* gpu) const {
  uint64_t count = 0, at_ns = 0;
  float microjoules = 0;  // of one count
  if (energy_(gpu, &count, &microjoules, &at_ns) != 0 || microjoules <= 0) return std::nullopt;
  return static_cast<double>(count) * static_cast<double>(microjoules) * kMicroJoule;
}

bool SmiLibrary::FindAll() {
  return FindSmi(handle_, "amdsmi_init", init_) && FindSmi(handle_, "amdsmi_shut_down", shut_down_) &&
         FindSmi(handle_, "amdsmi_get_socket_handles", sockets_) &&
         FindSmi(handle_, "amdsmi_get_processor_handles", processors_) &&
         FindSmi(handle_, "amdsmi_get_gpu_bdf_id", address_) && FindSmi(handle_, "amdsmi_get_energy_count", energy_);
}

bool SmiLibrary::Init() {
  initialised_ = init_(kGpusOnly) == 0;
  if (!initialised_) return false;
  std::array<void*, kMostHandles> sockets{};
  uint32_t count = kMostHandles;
  if (sockets_(&count, sockets.data()) != 0) return false;
  for (uint32_t i = 0; i < std::min(count, kMostHandles); ++i) AddSocket(sockets[i]);
  return true;
}

void SmiLibrary::AddSocket(void* socket) {
  std::array<void*, kMostHandles> found{};
  uint32_t count = kMostHandles;
  if (processors_(socket, &count, found.data()) != 0) return;
  for (uint32_t i = 0; i < std::min(count, kMostHandles); ++i) {
    uint64_t id = 0;
    if (address_(found[i], &id) == 0) gpus_.emplace_back(AddressOf(id), found[i]);
  }
}

}  // namespace gapless::internal::amd
