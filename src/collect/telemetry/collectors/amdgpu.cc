// SPDX-License-Identifier: Apache-2.0
// AMD GPUs: use, memory, clocks, power and temperature from the files of the kernel's driver (amdgpu, under
// /sys/class/drm), and energy from AMD's management library, libamd_smi, where it is installed. `device` counts the
// GPUs by their PCI address, as ROCm does.
//
// The library's structures differ from version to version, so only functions whose arguments are numbers are called.
// Files and library are joined by the PCI address. Where NVIDIA GPUs are, too, their numbers are those of `device`, and
// this collector stays away.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

#include "base/strings.h"
#include "collect/telemetry/collector.h"
#include "collect/telemetry/nvml.h"
#include "collect/telemetry/proc.h"

namespace gapless::internal::amdgpu_collector {
namespace {

constexpr double kPercent = 0.01, kMilli = 1e-3, kMicro = 1e-6;
constexpr int64_t kTenTimesASecond = 100'000'000, kSecond = 1'000'000'000;

// AMD's management library. All functions return 0 where they succeed.
class SmiLibrary {
 public:
  // Null: it is not installed, or does not answer. Its GPUs are then without energy.
  static std::shared_ptr<const SmiLibrary> Open(const std::string& name) {
    std::shared_ptr<SmiLibrary> library(new SmiLibrary);
    library->handle_ = name.empty() ? nullptr : dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    return library->handle_ != nullptr && library->FindAll() && library->Init() ? library : nullptr;
  }
  ~SmiLibrary() {
    if (initialised_) shut_down_();
    if (handle_ != nullptr) dlclose(handle_);
  }
  SmiLibrary(const SmiLibrary&) = delete;
  SmiLibrary& operator=(const SmiLibrary&) = delete;

  // The GPU at a PCI address ("0000:c1:00.0"); null: the library does not have it.
  void* At(std::string_view address) const {
    for (const auto& [known, gpu] : gpus_)
      if (known == address) return gpu;
    return nullptr;
  }
  // J; absent: this GPU does not count its energy.
  std::optional<double> Joules(void* gpu) const {
    uint64_t count = 0, at_ns = 0;
    float microjoules = 0;  // of one count
    if (energy_(gpu, &count, &microjoules, &at_ns) != 0 || microjoules <= 0) return std::nullopt;
    return static_cast<double>(count) * static_cast<double>(microjoules) * kMicro;
  }

 private:
  static constexpr uint64_t kGpusOnly = 1U << 1;
  static constexpr uint32_t kMost = 256;
  SmiLibrary() = default;
  template <class F>
  bool Find(const char* name, F*& out) {
    out = reinterpret_cast<F*>(dlsym(handle_, name));
    return out != nullptr;
  }
  bool FindAll() {
    return Find("amdsmi_init", init_) && Find("amdsmi_shut_down", shut_down_) &&
           Find("amdsmi_get_socket_handles", sockets_) && Find("amdsmi_get_processor_handles", processors_) &&
           Find("amdsmi_get_gpu_bdf_id", address_) && Find("amdsmi_get_energy_count", energy_);
  }
  bool Init() {
    initialised_ = init_(kGpusOnly) == 0;
    if (!initialised_) return false;
    std::array<void*, kMost> sockets{};
    uint32_t count = kMost;
    if (sockets_(&count, sockets.data()) != 0) return false;
    for (uint32_t i = 0; i < std::min(count, kMost); ++i) AddSocket(sockets[i]);
    return true;
  }
  void AddSocket(void* socket) {
    std::array<void*, kMost> found{};
    uint32_t count = kMost;
    if (processors_(socket, &count, found.data()) != 0) return;
    for (uint32_t i = 0; i < std::min(count, kMost); ++i) {
      uint64_t id = 0;
      if (address_(found[i], &id) == 0) gpus_.emplace_back(AddressOf(id), found[i]);
    }
  }
  // Bits of the number: 32–63 domain, 8–15 bus, 3–7 device, 0–2 function.
  static std::string AddressOf(uint64_t id) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.%x", static_cast<unsigned>(id >> 32),
                  static_cast<unsigned>(id >> 8 & 0xff), static_cast<unsigned>(id >> 3 & 0x1f),
                  static_cast<unsigned>(id & 7));
    return text.data();
  }

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

struct Gpu {
  std::string address{}, folder{}, sensors{};  // sensors: hwmon's folder; empty: it has none
  void* smi = nullptr;                         // null: no energy
};

std::optional<double> NumberIn(const std::string& file, double factor) {
  const auto value = ToReal(ReadLineOf(file));
  return value ? std::optional(*value * factor) : std::nullopt;
}

class AmdSession : public CollectorSession {
 public:
  AmdSession(std::vector<Gpu> gpus, std::shared_ptr<const SmiLibrary> library)
      : gpus_(std::move(gpus)), library_(std::move(library)) {}

  void Sample(const Tick& tick, SampleSink& sink) override {
    if (!due_.At(tick.mono_ns)) return;
    const bool slow = slow_due_.At(tick.mono_ns);
    for (size_t i = 0; i < gpus_.size(); ++i) {
      Fast(gpus_[i], static_cast<int32_t>(i), sink);
      if (slow) Slow(gpus_[i], static_cast<int32_t>(i), sink);
    }
  }

 private:
  static void Take(const std::string& file, std::string_view name, std::string_view unit, double factor, int32_t number,
                   SampleSink& sink) {
    if (const auto value = NumberIn(file, factor)) sink.Value(name, unit, *value, number);
  }
  void Fast(const Gpu& gpu, int32_t number, SampleSink& sink) const {
    Take(gpu.folder + "/gpu_busy_percent", "gpu.utilization", "share", kPercent, number, sink);
    Take(gpu.folder + "/mem_busy_percent", "gpu.memory_utilization", "share", kPercent, number, sink);
    Take(gpu.folder + "/mem_info_vram_used", "gpu.memory.used", "bytes", 1, number, sink);
    if (!gpu.sensors.empty()) {
      Take(gpu.sensors + "/freq1_input", "gpu.clock.sm", "Hz", 1, number, sink);
      Take(gpu.sensors + "/freq2_input", "gpu.clock.memory", "Hz", 1, number, sink);
      auto watts = NumberIn(gpu.sensors + "/power1_average", kMicro);  // newer boards have the other
      if (!watts) watts = NumberIn(gpu.sensors + "/power1_input", kMicro);
      if (watts) sink.Value("gpu.power", "W", *watts, number);
    }
    if (gpu.smi == nullptr) return;
    if (const auto joules = library_->Joules(gpu.smi)) sink.Value("gpu.energy", "J", *joules, number);
  }
  // The second sensor is the hottest place of the chip, by which the driver slows it down.
  static void Slow(const Gpu& gpu, int32_t number, SampleSink& sink) {
    if (gpu.sensors.empty()) return;
    auto degrees = NumberIn(gpu.sensors + "/temp2_input", kMilli);
    if (!degrees) degrees = NumberIn(gpu.sensors + "/temp1_input", kMilli);
    if (degrees) sink.Value("gpu.temperature", "degC", *degrees, number);
    Take(gpu.sensors + "/power1_cap", "gpu.power.limit", "W", kMicro, number, sink);
  }

  std::vector<Gpu> gpus_;
  std::shared_ptr<const SmiLibrary> library_;
  Due due_{kTenTimesASecond}, slow_due_{kSecond};
};

// "PCI_SLOT_NAME=0000:c1:00.0" of the device's uevent; empty: it is no device of a PCI bus.
std::string AddressIn(const std::string& folder) {
  constexpr std::string_view kKey = "PCI_SLOT_NAME=";
  const std::string text = ReadSmallFile(folder + "/uevent").value_or("");
  for (const std::string_view line : Lines(text))
    if (line.starts_with(kKey)) return std::string(line.substr(kKey.size()));
  return "";
}

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

void Describe(const std::vector<Gpu>& gpus, const std::string& sys, SampleSink& sink) {
  const auto text = [&](const std::string& key, const std::string& value) {
    if (!value.empty()) sink.Text(key, value);
  };
  text("gpu.driver", ReadLineOf(sys + "/module/amdgpu/version"));
  for (size_t i = 0; i < gpus.size(); ++i) {
    const std::string begin = StrCat("gpu.", i, '.');
    text(begin + "name", ReadLineOf(gpus[i].folder + "/product_name"));
    text(begin + "uuid", ReadLineOf(gpus[i].folder + "/unique_id"));
    text(begin + "pci_bus_id", gpus[i].address);
    text(begin + "memory_bytes", ReadLineOf(gpus[i].folder + "/mem_info_vram_total"));
  }
}

bool HasNvidiaGpus(const std::string& nvml_library) {
  if (nvml_library.empty()) return false;
  const auto library = nvml::Library::Open(nvml_library);
  return library && !(*library)->devices().empty();
}

Result<std::unique_ptr<CollectorSession>> Open(const TelemetrySources& sources, SampleSink& sink) {
  std::vector<Gpu> gpus = GpusUnder(sources.sys);
  if (gpus.empty()) return Fail(ErrorCode::kEnvironment, "there is no AMD GPU", sources.sys + "/class/drm");
  if (HasNvidiaGpus(sources.nvml_library))
    return Fail(ErrorCode::kEnvironment, "there are NVIDIA GPUs, too, whose numbers the AMD GPUs would take");
  const auto library = SmiLibrary::Open(sources.amd_smi_library);
  for (Gpu& gpu : gpus) gpu.smi = library == nullptr ? nullptr : library->At(gpu.address);
  Describe(gpus, sources.sys, sink);
  return std::unique_ptr<CollectorSession>(std::make_unique<AmdSession>(std::move(gpus), library));
}

}  // namespace

COLLECTOR(amdgpu) = {
    .name = "amdgpu", .help = "AMD GPUs: use, memory, clocks, power, energy, temperature", .open = Open};

}  // namespace gapless::internal::amdgpu_collector
