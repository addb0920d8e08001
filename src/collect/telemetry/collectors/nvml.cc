// SPDX-License-Identifier: Apache-2.0
// NVIDIA GPUs through the management library, per GPU. `device` is the library's number, which CUDA_VISIBLE_DEVICES
// does not change; the texts gpu.<n>.uuid and gpu.<n>.pci_bus_id say which GPU that is.
//
// Clocks, power and utilisation are asked for at every tick; what costs more (processes, PCIe throughput, which blocks
// for 20 ms a question) in turn. Utilisation is the driver's: the share of its own last sample period (1/6 to 1 s) in
// which any kernel ran.
#include "collect/telemetry/nvml.h"

#include <algorithm>

#include "base/strings.h"
#include "collect/telemetry/collector.h"
#include "collect/telemetry/rate.h"

namespace gapless::internal::nvml_collector {
namespace {

using nvml::Ask;

constexpr int64_t kMillisecond = 1'000'000;
constexpr double kPercent = 0.01, kMega = 1e6, kKib = 1024;

// The state of one GPU between two samples.
struct Gpu {
  nvml::Device handle = nullptr;
  int32_t number = 0;
  RateMeter nvlink_sent{}, nvlink_received{};
};

class NvmlSession : public CollectorSession {
 public:
  explicit NvmlSession(std::shared_ptr<const nvml::Library> library) : library_(std::move(library)) {
    for (size_t i = 0; i < library_->devices().size(); ++i)
      if (library_->devices()[i] != nullptr)
        gpus_.push_back({.handle = library_->devices()[i], .number = static_cast<int32_t>(i)});
  }

  void Sample(const Tick& tick, SampleSink& sink) override {
    const bool links = links_due_.At(tick.mono_ns), slow = slow_due_.At(tick.mono_ns);
    for (Gpu& gpu : gpus_) {
      Fast(gpu, sink);
      if (links) Links(gpu, tick.mono_ns, sink);
      if (slow) Slow(gpu, tick, sink);
    }
    if (pcie_due_.At(tick.mono_ns) && !gpus_.empty()) Pcie(sink);
  }

 private:
  void Fast(const Gpu& gpu, SampleSink& sink) const;
  void Links(Gpu& gpu, int64_t mono_ns, SampleSink& sink) const;
  void Slow(const Gpu& gpu, const Tick& tick, SampleSink& sink) const;
  void Processes(const Gpu& gpu, const Tick& tick, SampleSink& sink) const;
  void Pcie(SampleSink& sink);

  std::shared_ptr<const nvml::Library> library_;
  std::vector<Gpu> gpus_;
  Due links_due_{100 * kMillisecond}, slow_due_{1000 * kMillisecond}, pcie_due_{250 * kMillisecond};
  size_t next_pcie_ = 0;
};

// Writes what is cheap to ask for; a function that this driver lacks, or refuses, gives no value.
void NvmlSession::Fast(const Gpu& gpu, SampleSink& sink) const {
  const auto& call = library_->call();
  const auto value = [&](std::string_view name, std::string_view unit, auto asked, double factor) {
    if (asked) sink.Value(name, unit, static_cast<double>(*asked) * factor, gpu.number);
  };
  if (const auto use = Ask(call.DeviceGetUtilizationRates, gpu.handle)) {
    sink.Value("gpu.utilization", "share", use->gpu * kPercent, gpu.number);
    sink.Value("gpu.memory_utilization", "share", use->memory * kPercent, gpu.number);
  }
  if (const auto memory = Ask(call.DeviceGetMemoryInfo, gpu.handle))
    sink.Value("gpu.memory.used", "bytes", static_cast<double>(memory->used), gpu.number);
  value("gpu.clock.sm", "Hz", Ask(call.DeviceGetClockInfo, gpu.handle, nvml::kClockSm), kMega);
  value("gpu.clock.memory", "Hz", Ask(call.DeviceGetClockInfo, gpu.handle, nvml::kClockMemory), kMega);
  value("gpu.power", "W", Ask(call.DeviceGetPowerUsage, gpu.handle), 1e-3);
  value("gpu.energy", "J", Ask(call.DeviceGetTotalEnergyConsumption, gpu.handle), 1e-3);
  if (const auto reasons = Ask(call.DeviceGetCurrentClocksThrottleReasons, gpu.handle))
    for (const auto& reason : nvml::kClockReasons)
      sink.Value(StrCat("gpu.throttle.", reason.name), "flag", (*reasons & reason.bit) != 0 ? 1 : 0, gpu.number);
}

// Asks for the sum over all NVLinks in both directions; GPUs without links refuse.
void NvmlSession::Links(Gpu& gpu, int64_t mono_ns, SampleSink& sink) const {
  const auto& call = library_->call();
  if (call.DeviceGetFieldValues == nullptr) return;
  nvml::FieldValue fields[2] = {};
  fields[0].field = nvml::kFieldNvlinkSentKib, fields[1].field = nvml::kFieldNvlinkReceivedKib;
  fields[0].scope = fields[1].scope = nvml::kAllLinks;
  if (call.DeviceGetFieldValues(gpu.handle, 2, fields) != nvml::kSuccess) return;
  const auto rate = [&](const char* name, const nvml::FieldValue& field, RateMeter& meter) {
    if (field.result != nvml::kSuccess) return;
    const double bytes = static_cast<double>(field.value.u64) * kKib;
    const double per_second = meter.PerSecond(bytes, mono_ns);
    if (per_second == per_second) sink.Value(name, "bytes/s", per_second, gpu.number);
  };
  rate("gpu.nvlink.send", fields[0], gpu.nvlink_sent);
  rate("gpu.nvlink.receive", fields[1], gpu.nvlink_received);
}

void NvmlSession::Slow(const Gpu& gpu, const Tick& tick, SampleSink& sink) const {
  const auto& call = library_->call();
  const auto value = [&](std::string_view name, std::string_view unit, auto asked, double factor) {
    if (asked) sink.Value(name, unit, static_cast<double>(*asked) * factor, gpu.number);
  };
  value("gpu.temperature", "degC", Ask(call.DeviceGetTemperature, gpu.handle, 0U), 1);
  value("gpu.power.limit", "W", Ask(call.DeviceGetEnforcedPowerLimit, gpu.handle), 1e-3);
  value("gpu.pcie.generation", "", Ask(call.DeviceGetCurrPcieLinkGeneration, gpu.handle), 1);
  value("gpu.pcie.width", "lanes", Ask(call.DeviceGetCurrPcieLinkWidth, gpu.handle), 1);
  value("gpu.ecc.corrected", "errors",
        Ask(call.DeviceGetTotalEccErrors, gpu.handle, nvml::kEccCorrected, nvml::kEccSinceBoot), 1);
  value("gpu.ecc.uncorrected", "errors",
        Ask(call.DeviceGetTotalEccErrors, gpu.handle, nvml::kEccUncorrected, nvml::kEccSinceBoot), 1);
  Processes(gpu, tick, sink);
}

// Foreign: a process on this GPU that does not belong to the run. Inside a container the driver may give pids of the
// host, or none; then nothing can be said about whose they are, and only their number is written.
void NvmlSession::Processes(const Gpu& gpu, const Tick& tick, SampleSink& sink) const {
  const auto list = library_->call().DeviceGetComputeRunningProcesses_v3;
  if (list == nullptr) return;
  std::vector<nvml::Process> found(64);
  auto count = static_cast<unsigned>(found.size());
  nvml::Return result = list(gpu.handle, &count, found.data());
  if (result == nvml::kInsufficientSize) {
    found.resize(std::min(count, 4096U) + 16);
    count = static_cast<unsigned>(found.size());
    result = list(gpu.handle, &count, found.data());
  }
  if (result != nvml::kSuccess || count > found.size()) return;
  found.resize(count);
  sink.Value("gpu.processes", "processes", count, gpu.number);
  const auto ours = [&](const nvml::Process& process) {
    return std::binary_search(tick.followed.begin(), tick.followed.end(), int64_t{process.pid});
  };
  if (std::none_of(found.begin(), found.end(), ours)) return;
  int64_t foreign = 0;
  double foreign_bytes = 0;
  for (const nvml::Process& process : found) {
    if (ours(process)) continue;
    ++foreign;
    if (process.used_memory != nvml::kMemoryNotKnown) foreign_bytes += static_cast<double>(process.used_memory);
  }
  sink.Value("gpu.processes.foreign", "processes", static_cast<double>(foreign), gpu.number);
  if (foreign_bytes > 0) sink.Value("gpu.memory.foreign", "bytes", foreign_bytes, gpu.number);
}

// One question at a time: the next GPU or direction comes at the next turn.
void NvmlSession::Pcie(SampleSink& sink) {
  const size_t turn = next_pcie_++ % (gpus_.size() * 2);
  const Gpu& gpu = gpus_[turn / 2];
  const bool sending = turn % 2 == 0;
  constexpr double kKilobyte = 1000;
  if (const auto kb =
          Ask(library_->call().DeviceGetPcieThroughput, gpu.handle, sending ? nvml::kPcieSent : nvml::kPcieReceived))
    sink.Value(sending ? "gpu.pcie.send" : "gpu.pcie.receive", "bytes/s", *kb * kKilobyte, gpu.number);
}

// Writes the facts of each GPU that do not change during a run.
void Describe(const nvml::Library& library, SampleSink& sink) {
  if (const std::string version = library.driver_version(); !version.empty()) sink.Text("gpu.driver", version);
  for (size_t i = 0; i < library.devices().size(); ++i) {
    const nvml::Device device = library.devices()[i];
    if (device == nullptr) continue;
    const auto text = [&](std::string_view what, const std::string& value) {
      if (!value.empty()) sink.Text(StrCat("gpu.", i, '.', what), value);
    };
    text("name", library.NameOf(device));
    text("uuid", library.UuidOf(device));
    text("pci_bus_id", library.PciBusIdOf(device));
    const auto& call = library.call();
    if (const auto memory = Ask(call.DeviceGetMemoryInfo, device)) text("memory_bytes", StrCat(memory->total));
    if (const auto mhz = Ask(call.DeviceGetMaxClockInfo, device, nvml::kClockSm)) text("clock_max_mhz", StrCat(*mhz));
    const auto width = Ask(call.DeviceGetMaxPcieLinkWidth, device);
    const auto generation = Ask(call.DeviceGetMaxPcieLinkGeneration, device);
    if (width && generation) text("pcie_max", StrCat("gen", *generation, " x", *width));
  }
}

Result<std::unique_ptr<CollectorSession>> Open(const TelemetrySources& sources, SampleSink& sink) {
  GAPLESS_ASSIGN(auto library, nvml::Library::Open(sources.nvml_library));
  if (library->devices().empty()) return Fail(ErrorCode::kEnvironment, "the NVIDIA driver shows no GPU");
  Describe(*library, sink);
  return std::unique_ptr<CollectorSession>(std::make_unique<NvmlSession>(std::move(library)));
}

}  // namespace

COLLECTOR(nvml) = {.name = "nvml",
                   .help = "NVIDIA GPUs: use, memory, clocks, power, energy, throttling, links, errors, processes",
                   .open = Open};

}  // namespace gapless::internal::nvml_collector
