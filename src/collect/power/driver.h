// SPDX-License-Identifier: Apache-2.0
// One vendor's GPUs as boards whose power limit or clock can be set and whose energy is counted. One vendor = one
// source in collect/power/.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "collect/telemetry/collector.h"

namespace gapless::internal {

// The setting of a board that is changed, and the unit of its values.
enum class PowerKnob : uint8_t {
  kLimit,  // the power limit, W
  kClock,  // the clock of the multiprocessors, MHz: locked, so that only power and heat take it lower
};
std::string_view NameOf(PowerKnob knob);      // "power_limit", "clock"
std::string_view UnitOf(PowerKnob knob);      // "W", "MHz"
std::string_view SettingsOf(PowerKnob knob);  // "power limits", "clocks"

// Values are in the unit of the knob.
struct PowerBoard {
  unsigned index = 0;  // the vendor's number, as of nvidia-smi -i
  std::string name{}, uuid{};
  double found = 0;                   // the limit as it was found; of clocks the highest, since none was locked
  double least = 0, most = 0;         // that the board admits
  std::optional<double> usual{};      // the maker's limit
  std::vector<double> admitted{};     // ascending; empty: every whole number
  std::optional<double> highest_w{};  // the highest power limit, W
};

// "GPU 0 (NVIDIA H100): why", as an error of the environment.
Unexpected CannotTune(const PowerBoard& board, std::string_view why, std::string_view hint);

// Calls may come from two threads at once where they are const.
class PowerDriver {
 public:
  enum class Answer : uint8_t { kDone, kNoPermission, kRefused };

  explicit PowerDriver(PowerKnob knob) : knob_(knob) {}
  virtual ~PowerDriver() = default;
  PowerDriver(const PowerDriver&) = delete;
  PowerDriver& operator=(const PowerDriver&) = delete;

  PowerKnob knob() const { return knob_; }
  virtual unsigned count() const = 0;              // the boards have the numbers below
  virtual bool Answers(unsigned index) const = 0;  // false: the board is lost
  virtual std::string UuidOf(unsigned index) const = 0;
  // The lists of the environment that say which boards a program sees, each of them among those of the one before.
  virtual std::vector<std::string> VisibleLists() const = 0;
  virtual std::string_view visible_variable() const = 0;  // the one to name boards with
  virtual std::string_view hint() const = 0;              // where to read what a board admits

  // An error says why the board cannot be tuned.
  virtual Result<PowerBoard> Describe(unsigned index) const = 0;
  // While the board computes: an error where something is set that could not be given back.
  virtual Result<void> CheckState(const PowerBoard& board) const = 0;
  virtual std::vector<int64_t> ProcessesOn(unsigned index) const = 0;  // that compute; none: not known, too
  // J since the driver was loaded; absent: it did not answer.
  virtual std::optional<double> Joules(unsigned index) const = 0;
  virtual Answer Set(unsigned index, double value) const = 0;
  // Makes the board as it was found: sets that limit, or lets it choose its clock.
  virtual Answer GiveBack(unsigned index, double found) const = 0;
  // Commands for a shell that set a value for good, and that give back.
  virtual std::string SetCommand(std::span<const PowerBoard> boards, double value) const = 0;
  virtual std::string GiveBackCommand(std::span<const PowerBoard> boards) const = 0;

 private:
  PowerKnob knob_;
};

// NVIDIA's boards through NVML; an error: no library, no driver.
Result<std::unique_ptr<PowerDriver>> OpenNvidiaPower(const TelemetrySources& sources, PowerKnob knob);
// AMD's boards through the files of amdgpu, their energy through libamd_smi; null: there are none. Only limits are set.
Result<std::unique_ptr<PowerDriver>> OpenAmdPower(const TelemetrySources& sources, PowerKnob knob);
// NVIDIA's boards where there are any, else AMD's. An error: neither are there.
Result<std::unique_ptr<PowerDriver>> OpenPowerDriver(const TelemetrySources& sources, PowerKnob knob);

}  // namespace gapless::internal
