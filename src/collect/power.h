// SPDX-License-Identifier: Apache-2.0
// Power limits and energy counters of NVIDIA GPUs, and the watchdog that gives the limits back.
//
// A power limit belongs to the machine and outlives the program that sets it. So a LimitWatchdog is started before the
// first limit is set: a process of its own session that knows the limits as they were, and sets them again when this
// program is gone, however it ended (SIGKILL too).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "collect/telemetry/nvml.h"

namespace gapless::internal {

// Set on machines whose GPUs belong to somebody else: no setting of a GPU is changed.
inline constexpr const char* kKeepGpuSettings = "GAPLESS_KEEP_GPU_SETTINGS";
// An error where the variable is set.
Result<void> MayChangeGpuSettings();

// Limits in W.
struct PowerBoard {
  unsigned index = 0;  // NVML's number, as of nvidia-smi -i
  std::string name{}, uuid{};
  double limit_w = 0;               // as it was found
  double least_w = 0, most_w = 0;   // that the board admits
  std::optional<double> usual_w{};  // the maker's
};

// A LimitWatchdog is a forked process. It must be made while this program has one thread and has not opened NVML.
class LimitWatchdog {
 public:
  // An error: the process could not be started, or it cannot open the library.
  static Result<LimitWatchdog> Start(const std::string& library);
  ~LimitWatchdog();  // lets it end without doing anything
  LimitWatchdog(LimitWatchdog&& other) noexcept;
  LimitWatchdog(const LimitWatchdog&) = delete;
  LimitWatchdog& operator=(const LimitWatchdog&) = delete;
  LimitWatchdog& operator=(LimitWatchdog&&) = delete;

  // From now on, the limits are to be set as these boards were found; an error: the watchdog does not answer.
  Result<void> Keep(std::span<const PowerBoard> boards);
  // False: it was killed.
  bool IsAlive() const;
  pid_t pid() const { return pid_; }

 private:
  explicit LimitWatchdog(int socket) : socket_(socket) {}
  bool ReadAnswer(void* into, size_t bytes) const;

  int socket_;
  pid_t pid_ = -1;
};

// The boards of a job. Their limits are set back by Restore(), by the destructor, and by the watchdog.
class PowerBoards {
 public:
  // Opens all boards that `visible` names, as CUDA_VISIBLE_DEVICES does (numbers or UUIDs; absent: all). An error says
  // why their power cannot be tuned: no library, no counter, no limits, MIG, settings that must
  // stay as they are.
  static Result<PowerBoards> Open(const std::string& library, const std::optional<std::string>& visible);
  PowerBoards(PowerBoards&&) = default;
  PowerBoards& operator=(PowerBoards&&) = delete;
  ~PowerBoards();

  std::span<const PowerBoard> boards() const { return boards_; }
  // Keeps the boards on which one of these processes (ascending) computes, if any does; the others are left alone. An
  // error: a process of somebody else computes on one of them, or nothing says which boards are used.
  Result<void> KeepThoseOf(std::span<const int64_t> pids);
  // Sets the limits as they are: an error says that this needs rights that we lack.
  Result<void> CheckPermission(LimitWatchdog& watchdog);
  // J since the driver was loaded; absent: the driver did not answer.
  std::optional<double> Joules(size_t board) const;
  // Sets one limit on all boards, W. An error: a board refused, or the watchdog is gone, so that nothing may be set.
  Result<void> SetAll(double watts);
  // Sets the limits as they were found. False: a board refused.
  bool Restore();

 private:
  PowerBoards() = default;
  Result<void> Add(unsigned index);

  std::shared_ptr<const nvml::Library> library_{};
  std::vector<PowerBoard> boards_{};
  LimitWatchdog* watchdog_ = nullptr;  // of who called CheckPermission(); outlives this
  bool has_changed_ = false, names_devices_ = false;
};

}  // namespace gapless::internal
