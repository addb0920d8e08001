// SPDX-License-Identifier: Apache-2.0
// NVIDIA's boards through NVML.
//
// A limit is read, set and set back. A lock of the clock can be set and taken away, and no call reads it back. So
// clocks are tuned only where the driver does not say, while the GPU computes, that a setting holds them: then nothing
// was locked, and "as it was found" is to let the board choose. Applications clocks are a setting of their own that
// stays through all this; where the clock is the one they name, they are what the driver means.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "base/strings.h"
#include "collect/power/driver.h"
#include "collect/telemetry/nvml.h"

namespace gapless::internal {
namespace {

constexpr double kMilli = 1e-3;
constexpr uint64_t kClocksAreSet = 0x2;  // a reason for the clock: applications clocks, or a lock
constexpr unsigned kClockStepMhz = 15;   // between two clocks that a board admits
constexpr int kStateLooks = 10;          // between two kernels a GPU gives no reason
constexpr auto kStateEvery = std::chrono::milliseconds(10);

uint32_t ToMilliwatts(double watts) { return static_cast<uint32_t>(std::lround(watts / kMilli)); }

PowerDriver::Answer AnswerOf(nvml::Return result) {
  if (result == nvml::kSuccess) return PowerDriver::Answer::kDone;
  return result == nvml::kNoPermission ? PowerDriver::Answer::kNoPermission : PowerDriver::Answer::kRefused;
}

class NvidiaPower : public PowerDriver {
 public:
  NvidiaPower(PowerKnob knob, std::shared_ptr<const nvml::Library> library)
      : PowerDriver(knob), library_(std::move(library)) {}

  unsigned count() const override { return static_cast<unsigned>(library_->devices().size()); }
  bool Answers(unsigned index) const override { return At(index) != nullptr; }
  std::string UuidOf(unsigned index) const override { return library_->UuidOf(At(index)); }
  std::vector<std::string> VisibleLists() const override {
    const char* list = std::getenv("CUDA_VISIBLE_DEVICES");
    return list == nullptr ? std::vector<std::string>() : std::vector<std::string>{list};
  }
  std::string_view visible_variable() const override { return "CUDA_VISIBLE_DEVICES"; }
  std::string_view hint() const override {
    return knob() == PowerKnob::kLimit ? "nvidia-smi -q -d POWER shows what it admits"
                                       : "nvidia-smi -q -d SUPPORTED_CLOCKS shows what it admits";
  }

  Result<PowerBoard> Describe(unsigned index) const override;
  Result<void> CheckState(const PowerBoard& board) const override;
  std::vector<int64_t> ProcessesOn(unsigned index) const override;
  std::optional<double> Joules(unsigned index) const override {
    const auto mj = nvml::Ask(call().DeviceGetTotalEnergyConsumption, At(index));
    return mj ? std::optional(static_cast<double>(*mj) * kMilli) : std::nullopt;
  }
  Answer Set(unsigned index, double value) const override {
    const nvml::Device device = At(index);
    if (device == nullptr) return Answer::kRefused;
    if (knob() == PowerKnob::kLimit) {
      const auto set = call().DeviceSetPowerManagementLimit;
      return set == nullptr ? Answer::kRefused : AnswerOf(set(device, ToMilliwatts(value)));
    }
    const auto lock = call().DeviceSetGpuLockedClocks;
    const auto mhz = static_cast<unsigned>(std::lround(value));
    return lock == nullptr ? Answer::kRefused : AnswerOf(lock(device, mhz, mhz));
  }
  Answer GiveBack(unsigned index, double found) const override {
    if (knob() == PowerKnob::kLimit) return Set(index, found);
    const auto reset = call().DeviceResetGpuLockedClocks;
    return reset == nullptr || At(index) == nullptr ? Answer::kRefused : AnswerOf(reset(At(index)));
  }
  std::string SetCommand(std::span<const PowerBoard> boards, double value) const override {
    const std::string number = FormatNumber(value, 0);
    return StrCat(
        "sudo nvidia-smi -i ", NumbersOf(boards),
        knob() == PowerKnob::kLimit ? StrCat(" -pl ", number) : StrCat(" --lock-gpu-clocks=", number, ",", number));
  }
  std::string GiveBackCommand(std::span<const PowerBoard> boards) const override {
    if (knob() == PowerKnob::kLimit) return SetCommand(boards, boards[0].found);
    return StrCat("sudo nvidia-smi -i ", NumbersOf(boards), " --reset-gpu-clocks");
  }

 private:
  const nvml::Functions& call() const { return library_->call(); }
  nvml::Device At(unsigned index) const { return index < count() ? library_->devices()[index] : nullptr; }
  Result<void> AddLimits(PowerBoard& board) const;
  Result<void> AddClocks(PowerBoard& board) const;
  std::vector<double> GraphicsClocks(nvml::Device device) const;
  static std::string NumbersOf(std::span<const PowerBoard> boards) {
    std::vector<std::string> numbers;
    for (const PowerBoard& board : boards) numbers.push_back(StrCat(board.index));
    return Join(numbers, ",");
  }

  std::shared_ptr<const nvml::Library> library_;
};

Result<PowerBoard> NvidiaPower::Describe(unsigned index) const {
  const nvml::Device device = At(index);
  PowerBoard board{.index = index, .name = library_->NameOf(device), .uuid = library_->UuidOf(device)};
  unsigned now = 0, pending = 0;
  if (call().DeviceGetMigMode != nullptr && call().DeviceGetMigMode(device, &now, &pending) == nvml::kSuccess &&
      now == 1)
    return CannotTune(board, "the GPU is divided (MIG): its energy belongs to no part of it",
                      "tune power on a GPU that is not divided: nvidia-smi -mig 0 undoes it");
  if (!nvml::Ask(call().DeviceGetTotalEnergyConsumption, device))
    return CannotTune(board, "the GPU has no energy counter", "it takes a GPU of the Volta generation or newer");
  unsigned least = 0, most = 0;
  if (call().DeviceGetPowerManagementLimitConstraints != nullptr &&
      call().DeviceGetPowerManagementLimitConstraints(device, &least, &most) == nvml::kSuccess)
    board.least = least * kMilli, board.most = most * kMilli, board.highest_w = board.most;
  GAPLESS_TRY(knob() == PowerKnob::kLimit ? AddLimits(board) : AddClocks(board));
  return board;
}

Result<void> NvidiaPower::AddLimits(PowerBoard& board) const {
  const auto limit = nvml::Ask(call().DeviceGetPowerManagementLimit, At(board.index));
  if (!limit || board.least >= board.most) return CannotTune(board, "the GPU's power limit cannot be changed", hint());
  board.found = *limit * kMilli;
  if (const auto usual = nvml::Ask(call().DeviceGetPowerManagementDefaultLimit, At(board.index)))
    board.usual = *usual * kMilli;
  return {};
}

Result<void> NvidiaPower::AddClocks(PowerBoard& board) const {
  board.admitted = GraphicsClocks(At(board.index));
  if (board.admitted.size() < 2 || call().DeviceSetGpuLockedClocks == nullptr ||
      call().DeviceResetGpuLockedClocks == nullptr)
    return CannotTune(board, "the GPU's clock cannot be locked", hint());
  board.least = board.admitted.front(), board.most = board.found = board.admitted.back();
  return {};
}

// The clocks that the board admits while its memory runs at its highest, as under load; ascending.
std::vector<double> NvidiaPower::GraphicsClocks(nvml::Device device) const {
  std::vector<unsigned> memory(64), clocks(2048);
  auto found = static_cast<unsigned>(memory.size()), count = static_cast<unsigned>(clocks.size());
  if (call().DeviceGetSupportedMemoryClocks == nullptr || call().DeviceGetSupportedGraphicsClocks == nullptr) return {};
  if (call().DeviceGetSupportedMemoryClocks(device, &found, memory.data()) != nvml::kSuccess || found == 0) return {};
  memory.resize(std::min<size_t>(found, memory.size()));
  if (call().DeviceGetSupportedGraphicsClocks(device, std::ranges::max(memory), &count, clocks.data()) !=
      nvml::kSuccess)
    return {};
  clocks.resize(std::min<size_t>(count, clocks.size()));
  std::ranges::sort(clocks);
  clocks.erase(std::ranges::unique(clocks).begin(), clocks.end());
  return {clocks.begin(), clocks.end()};
}

Result<void> NvidiaPower::CheckState(const PowerBoard& board) const {
  if (knob() == PowerKnob::kLimit) return {};
  constexpr std::string_view kFree = "let the GPU choose its clocks first: sudo nvidia-smi --reset-gpu-clocks";
  const nvml::Device device = At(board.index);
  for (int look = 0; look < kStateLooks; ++look, std::this_thread::sleep_for(kStateEvery)) {
    const auto reasons = nvml::Ask(call().DeviceGetCurrentClocksThrottleReasons, device);
    if (!reasons)
      return CannotTune(board, "the driver does not say if the GPU's clock is locked: a lock would be lost",
                        "tune power limits instead: --by limits");
    if ((*reasons & kClocksAreSet) == 0) continue;
    const auto now = nvml::Ask(call().DeviceGetClockInfo, device, nvml::kClockGraphics);
    const auto application = nvml::Ask(call().DeviceGetApplicationsClock, device, nvml::kClockGraphics);
    const bool is_application =
        now && application && *now <= *application + kClockStepMhz && *application <= *now + kClockStepMhz;
    if (!is_application)
      return CannotTune(board, "a setting holds the GPU's clock, and a lock cannot be read back: it would be lost",
                        kFree);
  }
  return {};
}

std::vector<int64_t> NvidiaPower::ProcessesOn(unsigned index) const {
  std::vector<nvml::Process> found(256);
  auto count = static_cast<unsigned>(found.size());
  const auto list = call().DeviceGetComputeRunningProcesses_v3;
  if (list == nullptr || list(At(index), &count, found.data()) != nvml::kSuccess) return {};
  std::vector<int64_t> pids;
  for (unsigned i = 0; i < std::min<size_t>(count, found.size()); ++i) pids.push_back(found[i].pid);
  return pids;
}

}  // namespace

Result<std::unique_ptr<PowerDriver>> OpenNvidiaPower(const TelemetrySources& sources, PowerKnob knob) {
  GAPLESS_ASSIGN(auto library, nvml::Library::Open(sources.nvml_library));
  return std::unique_ptr<PowerDriver>(std::make_unique<NvidiaPower>(knob, std::move(library)));
}

}  // namespace gapless::internal
