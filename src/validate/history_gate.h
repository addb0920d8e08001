// SPDX-License-Identifier: Apache-2.0
// Tests one new result against the history of a branch for a slowdown, with its significance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "gapless/result.h"
#include "validate/noise_look.h"

namespace gapless::internal {

// The state of a past run. kPending and kConfirmed runs at the end of a history freeze the baseline: they are
// judged with the new one, never learned from. A kPending run with a kUnmarked one behind it
// was a slow run as they come now and then here, and so was a kCleared one: the baseline has them, to know how often.
enum class GateMark : uint8_t {
  kUnmarked,   // no alarm
  kPending,    // slower than the noise explains, but too few runs agree
  kConfirmed,  // a regression: several runs, or fresh ones, agree
  kCleared,    // fresh runs were as fast as before
  kAccepted,   // someone says that this is the level from here on: the baseline starts here
};

struct GateRun {
  double value = 0;
  GateMark mark = GateMark::kUnmarked;
  uint32_t machine = 0;  // a number for each machine by its name; 0: not named
};

struct GateOptions {
  bool higher_is_better = false;
  double effect = 0.05;            // share of the level that matters; windows whose mean moved by less are fine
  double false_alarm_rate = 0.05;  // chance of any regression reported within `horizon_runs` runs without change
  size_t horizon_runs = 100;
  size_t min_baseline = 10;  // runs; fewer: cannot tell
  uint32_t machine = 0;      // machine of the current run and of the fresh ones
  bool with_outlook = true;  // fill in what future runs would show; without it simulations take half the time
};

enum class GateKind : uint8_t { kFine, kRegression, kImprovement, kCannotTell };

// MachineUse says how the names of machines were used.
enum class MachineUse : uint8_t {
  kNone,     // no machine is named, or none has five runs
  kByName,   // each run is compared with those of its machine
  kUnknown,  // others have five runs, the machine of the current run has not: no difference could be taken off
};

// Figures are absent where the baseline is too short.
struct GateVerdict {
  GateKind kind = GateKind::kCannotTell;
  // The newest run, or the newest few, moved further than the noise explains, but too few of them agree for a verdict:
  // what they will be if the next ones agree. The kind is kCannotTell.
  std::optional<GateKind> pending;
  std::optional<size_t> more_runs;  // number of further runs like the newest one that make a pending alarm a verdict
  bool confirmed = false;           // fresh runs confirmed it
  bool cleared = false;             // fresh runs refuted an alarm
  std::string_view reason;          // why it cannot tell; else ""
  double current = 0;
  size_t baseline_first = 0;  // index in the history of the first run of the baseline
  size_t baseline_runs = 0;
  size_t window_runs = 1;               // the newest runs, the current one included, that the verdict is from
  size_t window_first = 0;              // index in the history of the first of them; its size: the current run
  std::optional<double> level;          // level of the baseline, in the metric's unit
  std::optional<double> noise;          // standard deviation of one run, as a share of the level
  std::optional<double> phi;            // how a run follows the one before it (lag-1)
  std::optional<double> change;         // change of the window against the level, as a share; > 0 is a larger value
  std::optional<double> statistic;      // the window's distance in standard errors; > 0 is worse
  std::optional<double> limit;          // the statistic must exceed it
  std::optional<double> mde;            // share that a first run shows (pending) with 80 % power, when it is worse
  std::optional<size_t> runs_to_alarm;  // runs slower by `mde` that make a regression, the first included
  std::optional<double> seen_within;    // between two machines: the share that twelve runs show four times in five
  NoiseLook look = NoiseLook::kQuiet;   // kind of noise of the baseline
  MachineUse machines = MachineUse::kNone;
  size_t left_out = 0;  // runs of machines that have too few
  // False alarms of such a history within 100 runs without a change, as simulated (noise_look.h). Absent where no such
  // history was simulated.
  std::optional<double> false_alarms;

  bool IsAlarm() const { return kind == GateKind::kRegression || kind == GateKind::kImprovement; }
};

// `history` is the branch's runs before the current one, oldest first. `fresh` are runs of the same build that were
// made right after the current one to settle a pending alarm. Fails on values that are not positive and finite, saying
// which. A pure function: earlier verdicts enter through the marks alone.
//
// A verdict takes several runs that agree (agreement.h). Fresh runs clear the alarm when their median moved less than
// half as far as the current one, or by less than the effect: of two levels, "as before" and "as the alarm says", with
// equal noise, half as far is where the other becomes the likelier one (Neyman, Pearson 1933). They are all of one
// machine in one job, and show nothing of other machines: they count as runs that agree only where the baseline has 75
// runs, of which none was as slow as half way.
Result<GateVerdict> JudgeAgainstHistory(std::span<const GateRun> history, double current,
                                        const GateOptions& options = {}, std::span<const double> fresh = {});

// A value of which a share can be taken: positive and finite. The error calls it `what`.
Result<void> CheckGateValue(double value, const char* what);

// The bare rule: a regression when worse by more than `effect` than the mean of the last `runs`. For those who ask; it
// has no false-alarm rate.
Result<GateVerdict> NaiveGate(std::span<const GateRun> history, double current, const GateOptions& options = {},
                              size_t runs = 10);

}  // namespace gapless::internal
