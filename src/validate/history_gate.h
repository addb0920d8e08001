// SPDX-License-Identifier: Apache-2.0
// Tests one new result against the history of a branch for a slowdown, with its significance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "gapless/result.h"

namespace gapless::internal {

// The state of a past run. kPending and kConfirmed runs at the end of a history freeze the baseline: they are
// judged with the new one, never learned from. A kPending run that a kUnmarked one follows was an outlier, as a
// kCleared one is.
enum class GateMark : uint8_t {
  kUnmarked,   // no alarm
  kPending,    // an alarm that no fresh run has confirmed or cleared yet
  kConfirmed,  // an alarm that fresh runs confirmed
  kCleared,    // an alarm that fresh runs refuted
  kAccepted,   // someone says that this is the level from here on: the baseline starts here
};

struct GateRun {
  double value = 0;
  GateMark mark = GateMark::kUnmarked;
};

struct GateOptions {
  bool higher_is_better = false;
  double effect = 0.05;            // share of the level that matters; windows whose mean moved by less are fine
  double false_alarm_rate = 0.05;  // chance of any regression reported within `horizon_runs` runs without change
  size_t horizon_runs = 100;
  size_t min_baseline = 10;  // runs; fewer: cannot tell
};

enum class GateKind : uint8_t { kFine, kRegression, kImprovement, kCannotTell };

// Figures are absent where the verdict is kCannotTell.
struct GateVerdict {
  GateKind kind = GateKind::kCannotTell;
  bool confirmed = false;   // by fresh runs; an alarm without them is pending
  std::string_view reason;  // why it cannot tell; else ""
  double current = 0;
  size_t baseline_first = 0;  // index in the history of the first run of the baseline
  size_t baseline_runs = 0;
  size_t window_runs = 1;           // the newest runs, the current one included, that the verdict is from
  std::optional<double> level;      // level of the baseline, in the metric's unit
  std::optional<double> noise;      // standard deviation of one run, as a share of the level
  std::optional<double> phi;        // how a run follows the one before it (lag-1)
  std::optional<double> change;     // change of the window against the level, as a share; > 0 is a larger value
  std::optional<double> statistic;  // the window's distance in standard errors; > 0 is worse
  std::optional<double> limit;      // what the statistic must pass
  std::optional<double> mde;        // share that a first run shows with 80 % power, in the worse direction
  double false_alarm_rate = 0;      // as stated by the options, and over how many runs
  size_t horizon_runs = 0;

  bool IsAlarm() const { return kind == GateKind::kRegression || kind == GateKind::kImprovement; }
};

// `history` is the branch's runs before the current one, oldest first. Fails on values that are not positive and
// finite, saying which. A pure function: earlier verdicts enter through the marks alone.
Result<GateVerdict> JudgeAgainstHistory(std::span<const GateRun> history, double current,
                                        const GateOptions& options = {});

// An alarm against fresh runs of the same build: confirmed when the median of them moved at least half as far as the
// alarm says, and by `effect` at least; else fine, with the change of the fresh runs. Of two levels, "as before" and
// "as the alarm says", with equal noise, half as far is where the other becomes the likelier one (Neyman, Pearson
// 1933). Other verdicts come back as they are.
Result<GateVerdict> GateConfirm(const GateVerdict& alarm, std::span<const double> fresh, double effect = 0.05);

// The bare rule: a regression when worse by more than `effect` than the mean of the last `runs`. For those who ask; it
// has no false-alarm rate.
Result<GateVerdict> NaiveGate(std::span<const GateRun> history, double current, const GateOptions& options = {},
                              size_t runs = 10);

}  // namespace gapless::internal
