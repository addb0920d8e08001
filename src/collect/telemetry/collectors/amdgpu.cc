// SPDX-License-Identifier: Apache-2.0
// AMD GPUs: use, memory, clocks, power and temperature from the files of the kernel's driver (amdgpu, under
// /sys/class/drm), and energy from AMD's management library, libamd_smi, where it is installed. `device` counts the
// GPUs by their PCI address, as ROCm does.
//
// If NVIDIA GPUs are there, too, their numbers are those of `device`, and this collector stays away.
#include <memory>
#include <utility>

#include "base/strings.h"
#include "collect/telemetry/amd.h"
#include "collect/telemetry/collector.h"
#include "collect/telemetry/nvml.h"
#include "collect/telemetry/proc.h"

namespace gapless::internal::amdgpu_collector {
namespace {

constexpr double kPercent = 0.01, kMilli = 1e-3, kMicro = 1e-6;
constexpr int64_t kTenTimesASecond = 100'000'000, kSecond = 1'000'000'000;

// A GPU and what the library calls it; null: no energy.
struct Gpu : amd::Gpu {
  void* smi = nullptr;
};

class AmdSession : public CollectorSession {
 public:
  AmdSession(std::vector<Gpu> gpus, std::shared_ptr<const amd::SmiLibrary> library)
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
    if (const auto value = amd::NumberIn(file, factor)) sink.Value(name, unit, *value, number);
  }
  void Fast(const Gpu& gpu, int32_t number, SampleSink& sink) const {
    Take(gpu.folder + "/gpu_busy_percent", "gpu.utilization", "share", kPercent, number, sink);
    Take(gpu.folder + "/mem_busy_percent", "gpu.memory_utilization", "share", kPercent, number, sink);
    Take(gpu.folder + "/mem_info_vram_used", "gpu.memory.used", "bytes", 1, number, sink);
    if (!gpu.sensors.empty()) {
      Take(gpu.sensors + "/freq1_input", "gpu.clock.sm", "Hz", 1, number, sink);
      Take(gpu.sensors + "/freq2_input", "gpu.clock.memory", "Hz", 1, number, sink);
      auto watts = amd::NumberIn(gpu.sensors + "/power1_average", kMicro);  // newer boards have the other
      if (!watts) watts = amd::NumberIn(gpu.sensors + "/power1_input", kMicro);
      if (watts) sink.Value("gpu.power", "W", *watts, number);
    }
    if (gpu.smi == nullptr) return;
    if (const auto joules = library_->Joules(gpu.smi)) sink.Value("gpu.energy", "J", *joules, number);
  }
  // The second sensor is the hottest place of the chip, by which the driver slows it down.
  static void Slow(const Gpu& gpu, int32_t number, SampleSink& sink) {
    if (gpu.sensors.empty()) return;
    auto degrees = amd::NumberIn(gpu.sensors + "/temp2_input", kMilli);
    if (!degrees) degrees = amd::NumberIn(gpu.sensors + "/temp1_input", kMilli);
    if (degrees) sink.Value("gpu.temperature", "degC", *degrees, number);
    Take(gpu.sensors + "/power1_cap", "gpu.power.limit", "W", kMicro, number, sink);
  }

  std::vector<Gpu> gpus_;
  std::shared_ptr<const amd::SmiLibrary> library_;
  Due due_{kTenTimesASecond}, slow_due_{kSecond};
};

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
  std::vector<Gpu> gpus;
  for (amd::Gpu& gpu : amd::GpusUnder(sources.sys)) gpus.push_back({std::move(gpu)});
  if (gpus.empty()) return Fail(ErrorCode::kEnvironment, "there is no AMD GPU", sources.sys + "/class/drm");
  if (HasNvidiaGpus(sources.nvml_library))
    return Fail(ErrorCode::kEnvironment, "there are NVIDIA GPUs, too, whose numbers the AMD GPUs would take");
  const auto library = amd::SmiLibrary::Open(sources.amd_smi_library);
  for (Gpu& gpu : gpus) gpu.smi = library == nullptr ? nullptr : library->At(gpu.address);
  Describe(gpus, sources.sys, sink);
  return std::unique_ptr<CollectorSession>(std::make_unique<AmdSession>(std::move(gpus), library));
}

}  // namespace

COLLECTOR(amdgpu) = {
    .name = "amdgpu", .help = "AMD GPUs: use, memory, clocks, power, energy, temperature", .open = Open};

}  // namespace gapless::internal::amdgpu_collector
