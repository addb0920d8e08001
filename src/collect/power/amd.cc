// SPDX-License-Identifier: Apache-2.0
// AMD's boards. Limits are files of amdgpu's sensors (power1_cap, µW), which libamd_smi writes, too; the library has
// the energy. The processes on a board are those with a queue on it, as the compute driver (kfd) lists them.
//
// Clocks are not set: the library's range of clocks is part of a performance level, which belongs to the board as well
// and is not given back by one call.
#include "collect/telemetry/amd.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "base/strings.h"
#include "collect/power/driver.h"
#include "collect/telemetry/proc.h"

namespace gapless::internal {
namespace {

constexpr double kMicroWatt = 1e-6;
constexpr double kLeastShare = 0.25;  // of the highest limit, where the driver names 0 as the lowest

class AmdPower : public PowerDriver {
 public:
  AmdPower(const TelemetrySources& sources, std::vector<amd::Gpu> gpus)
      : PowerDriver(PowerKnob::kLimit),
        kfd_(sources.sys + "/class/kfd/kfd"),
        gpus_(std::move(gpus)),
        library_(amd::SmiLibrary::Open(sources.amd_smi_library)) {}

  unsigned count() const override { return static_cast<unsigned>(gpus_.size()); }
  bool Answers(unsigned index) const override { return index < count(); }
  std::string UuidOf(unsigned index) const override {
    const std::string id = ReadLineOf(gpus_[index].folder + "/unique_id");
    return id.empty() ? "" : "GPU-" + id;
  }
  std::vector<std::string> VisibleLists() const override {
    std::vector<std::string> lists;
    if (const char* list = std::getenv("ROCR_VISIBLE_DEVICES")) lists.emplace_back(list);
    const char* hip = std::getenv("HIP_VISIBLE_DEVICES");
    if (hip == nullptr) hip = std::getenv("CUDA_VISIBLE_DEVICES");
    if (hip != nullptr) lists.emplace_back(hip);
    return lists;
  }
  std::string_view visible_variable() const override { return "HIP_VISIBLE_DEVICES"; }
  std::string_view hint() const override { return "amd-smi static --limit shows what it admits"; }

  Result<PowerBoard> Describe(unsigned index) const override;
  Result<void> CheckState(const PowerBoard& /*board*/) const override { return {}; }
  std::vector<int64_t> ProcessesOn(unsigned index) const override;
  std::optional<double> Joules(unsigned index) const override {
    void* gpu = library_ == nullptr ? nullptr : library_->At(gpus_[index].address);
    return gpu == nullptr ? std::nullopt : library_->Joules(gpu);
  }
  Answer Set(unsigned index, double value) const override;
  Answer GiveBack(unsigned index, double found) const override { return Set(index, found); }
  std::string SetCommand(std::span<const PowerBoard> boards, double value) const override {
    std::string command = StrCat("echo ", MicrowattsText(value), " | sudo tee");
    for (const PowerBoard& board : boards) command += " " + CapOf(board.index);
    return command;
  }
  std::string GiveBackCommand(std::span<const PowerBoard> boards) const override {
    return SetCommand(boards, boards[0].found);
  }

 private:
  std::string CapOf(unsigned index) const { return gpus_[index].sensors + "/power1_cap"; }
  static std::string MicrowattsText(double watts) { return StrCat(std::llround(watts / kMicroWatt)); }
  std::string NumberOfKfd(const std::string& address) const;

  std::string kfd_;
  std::vector<amd::Gpu> gpus_;
  std::shared_ptr<const amd::SmiLibrary> library_;
};

Result<PowerBoard> AmdPower::Describe(unsigned index) const {
  const amd::Gpu& gpu = gpus_[index];
  PowerBoard board{.index = index, .name = ReadLineOf(gpu.folder + "/product_name"), .uuid = UuidOf(index)};
  if (board.name.empty()) board.name = "AMD GPU at " + gpu.address;
  const std::string partition = ReadLineOf(gpu.folder + "/current_compute_partition");
  if (!partition.empty() && partition != "SPX")
    return CannotTune(board, StrCat("the GPU is divided (", partition, "): its energy belongs to no part of it"),
                      "tune power on a GPU that is not divided: amd-smi set --compute-partition SPX undoes it");
  if (!Joules(index))
    return CannotTune(
        board, "the GPU's energy is not counted",
        "it takes AMD's management library (amd-smi-lib), and a GPU that counts: amd-smi metric --energy");
  const std::string cap = CapOf(index);
  const auto found = amd::NumberIn(cap, kMicroWatt), most = amd::NumberIn(cap + "_max", kMicroWatt);
  const auto least = amd::NumberIn(cap + "_min", kMicroWatt);
  if (!found || !least || !most || *least >= *most)
    return CannotTune(board, "the GPU's power limit cannot be changed", hint());
  board.found = *found, board.most = *most, board.highest_w = *most;
  board.least = *least > 0 ? *least : std::ceil(kLeastShare * *most);
  board.usual = amd::NumberIn(cap + "_default", kMicroWatt);
  return board;
}

PowerDriver::Answer AmdPower::Set(unsigned index, double value) const {
  if (index >= count() || gpus_[index].sensors.empty()) return Answer::kRefused;
  const int file = ::open(CapOf(index).c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  bool done = false;
  if (file >= 0) {
    const std::string text = MicrowattsText(value);
    done = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  }
  const int error = errno;
  if (file >= 0) ::close(file);
  if (done) return Answer::kDone;
  return error == EACCES || error == EPERM || error == EROFS ? Answer::kNoPermission : Answer::kRefused;
}

// The number by which kfd calls the GPU at a PCI address; empty: it does not know it.
std::string AmdPower::NumberOfKfd(const std::string& address) const {
  const std::string nodes = kfd_ + "/topology/nodes/";
  for (const int64_t node : NumbersIn(nodes)) {
    const std::string folder = StrCat(nodes, node);
    const std::string properties = ReadSmallFile(folder + "/properties").value_or("");
    const auto location = NumberAfter(properties, "location_id");
    const auto domain = NumberAfter(properties, "domain").value_or(0);
    const std::string number = ReadLineOf(folder + "/gpu_id");
    if (!location || number.empty() || number == "0") continue;  // 0: a node of processors
    if (amd::AddressOf(static_cast<uint64_t>(domain) << 32 | static_cast<uint64_t>(*location)) == address)
      return number;
  }
  return "";
}

std::vector<int64_t> AmdPower::ProcessesOn(unsigned index) const {
  const std::string number = NumberOfKfd(gpus_[index].address);
  std::vector<int64_t> pids;
  if (number.empty()) return pids;
  for (const int64_t pid : NumbersIn(kfd_ + "/proc")) {
    const std::string queues = StrCat(kfd_, "/proc/", pid, "/queues");
    const auto is_on_it = [&](const std::string& queue) {
      return ReadLineOf(StrCat(queues, '/', queue, "/gpuid")) == number;
    };
    if (std::ranges::any_of(NamesIn(queues), is_on_it)) pids.push_back(pid);
  }
  return pids;
}

}  // namespace

Result<std::unique_ptr<PowerDriver>> OpenAmdPower(const TelemetrySources& sources, PowerKnob knob) {
  auto gpus = amd::GpusUnder(sources.sys);
  if (gpus.empty()) return std::unique_ptr<PowerDriver>();
  if (knob == PowerKnob::kClock)
    return Fail(ErrorCode::kEnvironment, "clocks of AMD GPUs are not changed", gpus[0].address,
                "tune their power limits instead: --by limits");
  return std::unique_ptr<PowerDriver>(std::make_unique<AmdPower>(sources, std::move(gpus)));
}

}  // namespace gapless::internal
