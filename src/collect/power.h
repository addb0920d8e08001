// SPDX-License-Identifier: Apache-2.0
// Settings of GPUs that cost or save energy (collect/power/driver.h), and the watchdog that gives them back.
//
// A power limit or a locked clock belongs to the machine and outlives the program that sets it. So a PowerWatchdog is
// started before anything is set: a process of its own session that knows how the boards were, and makes them so again
// when this program is gone, however it ended (SIGKILL too).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "collect/power/driver.h"

namespace gapless::internal {

// Set on machines whose GPUs belong to somebody else: no setting of a GPU is changed.
inline constexpr const char* kKeepGpuSettings = "GAPLESS_KEEP_GPU_SETTINGS";
// An error where the variable is set.
Result<void> MayChangeGpuSettings();

// A PowerWatchdog is a forked process. It must be made while this program has one thread and has opened no library of a
// vendor.
class PowerWatchdog {
 public:
  // An error: the process could not be started, or it cannot open the driver.
  static Result<PowerWatchdog> Start(const TelemetrySources& sources, PowerKnob knob);
  ~PowerWatchdog();  // lets it end without doing anything
  PowerWatchdog(PowerWatchdog&& other) noexcept;
  PowerWatchdog(const PowerWatchdog&) = delete;
  PowerWatchdog& operator=(const PowerWatchdog&) = delete;
  PowerWatchdog& operator=(PowerWatchdog&&) = delete;

  // From now on, these boards are to be made as they were found; an error: the watchdog does not answer.
  Result<void> Keep(std::span<const PowerBoard> boards);
  // False: it was killed.
  bool IsAlive() const;
  pid_t pid() const { return pid_; }

 private:
  PowerWatchdog(int socket, PowerKnob knob) : socket_(socket), knob_(knob) {}
  bool ReadAnswer(void* into, size_t bytes) const;

  int socket_;
  PowerKnob knob_;
  pid_t pid_ = -1;
};

// The boards of a job. They are made as they were found by Restore(), by the destructor, and by the watchdog.
class PowerBoards {
 public:
  // Opens all boards that the environment lets programs see. An error says why their power cannot be tuned: no library,
  // no counter, nothing that may be set, MIG, settings that must stay as they are.
  static Result<PowerBoards> Open(const TelemetrySources& sources, PowerKnob knob);
  PowerBoards(PowerBoards&&) = default;
  PowerBoards& operator=(PowerBoards&&) = delete;
  ~PowerBoards();

  PowerKnob knob() const { return driver_->knob(); }
  std::span<const PowerBoard> boards() const { return boards_; }
  // Keeps the boards on which one of these processes (ascending) computes, if any does; the others are left alone. An
  // error: a process of somebody else computes on one of them, or nothing says which boards are used.
  Result<void> KeepThoseOf(std::span<const int64_t> pids);
  // Makes the boards as they are: an error says that this needs rights that we lack, or that they have a setting that
  // could not be given back.
  Result<void> CheckPermission(PowerWatchdog& watchdog);
  // J since the driver was loaded; absent: the driver did not answer.
  std::optional<double> Joules(size_t board) const { return driver_->Joules(boards_[board].index); }
  // Sets one value on all boards; that of `found` lets them be as they were. An error: a board refused, or the watchdog
  // is gone, so that nothing may be set.
  Result<void> SetAll(double value);
  // Makes the boards as they were found. False: a board refused.
  bool Restore();
  // Commands for a shell: one that sets a value for good, one that makes the boards as they were found.
  std::string SetCommand(double value) const { return driver_->SetCommand(boards_, value); }
  std::string GiveBackCommand() const { return driver_->GiveBackCommand(boards_); }

 private:
  PowerBoards() = default;
  Result<void> Add(unsigned index);

  std::unique_ptr<const PowerDriver> driver_{};
  std::vector<PowerBoard> boards_{};
  PowerWatchdog* watchdog_ = nullptr;  // of who called CheckPermission(); outlives this
  bool has_changed_ = false, names_devices_ = false;
};

}  // namespace gapless::internal
