// SPDX-License-Identifier: Apache-2.0
// The flow of `gapless tune power`: runs a training, sets power limits or clocks while it goes on, and says at which a
// step costs least. The boards are as they were when this returns.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "collect/power.h"
#include "optimize/power_blocks.h"
#include "trial/run_once.h"

namespace gapless::internal {

struct PowerTuneOptions {
  PowerGoal goal{};
  size_t warmup = 10, window_steps = 4;
  double budget_s = 600;
};

// One row of the answer: a limit, W, or a clock, MHz. Ratios are per step, over the usual one.
struct PowerRow {
  double value = 0;
  PowerRatio ratio{};
  size_t pairs = 0;
};

enum class PowerVerdict : uint8_t {
  kSaves,      // the chosen limit costs significantly less, and is not slower than allowed
  kNoLimit,    // no limit is better than the usual one
  kNotProven,  // the chosen one was not significantly better when it was measured again
  kTooSlow,    // it was slower than allowed then
  kNoTime,     // the time was up
};
std::string_view NameOf(PowerVerdict verdict);  // "saves", "no_limit", "not_proven", "too_slow", "no_time"

struct PowerTuning {
  std::vector<PowerBoard> boards{};
  PowerRange range{};
  PowerGoal goal{};
  double usual_joules = 0, usual_seconds = 0;  // of a step at the usual limit, all boards
  std::vector<PowerRow> rows{};                // by limit, the highest first; without the usual one
  std::optional<double> chosen{};              // limit or clock by the search
  std::optional<PowerRow> proof{};             // of the chosen one, by pairs that the search did not see
  RatioInterval cost{};                        // of the proof, by the goal
  PowerVerdict verdict = PowerVerdict::kNoLimit;
  size_t steps = 0, processes = 0;  // steps behind the warm-up; runs of the command
  double update_s = 0;              // how often the slowest energy counter changes
  PowerKnob knob = PowerKnob::kLimit;
  std::string set_command{};  // of a shell, for the chosen one; empty: the verdict is against it
};

// Called when another limit is measured, with its words.
using PowerListener = std::function<void(const std::string& doing)>;

// An error: the command fails or takes no steps, a board refuses, a counter stands still, the user ends it.
Result<PowerTuning> TunePower(const RunRequest& request, const PowerTuneOptions& options, PowerBoards& boards,
                              PowerWatchdog& watchdog, const PowerListener& listener);

}  // namespace gapless::internal
