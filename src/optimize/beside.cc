// SPDX-License-Identifier: Apache-2.0
// Compares a slow or hung trial with a run without the fix, and warns if the machine changed in most of them.
//
// Example: steps took 10 ms before, 16 ms in the trial, and 15 ms without the fix right after. The machine is busy
// (15 / 10 > 1.25), and the fix itself is not slow (16 / 15).
#include "optimize/beside.h"

#include <algorithm>

#include "base/strings.h"

namespace gapless::internal {
namespace {

// Share of measurements, 0–1, that may be slow before the user is warned.
constexpr double kMaxShareSlow = 0.1;
constexpr double kHungFactor = 2;  // a command that takes over half as long as the ended trial is as slow

// Formats seconds for a sentence.
std::string Duration(double seconds) { return FormatDuration(static_cast<int64_t>(seconds * 1e9)); }
std::string Step(const Stage& stage) { return StrCat(FormatDigits(stage.step_ms, 3), " ms"); }

}  // namespace

Beside CompareHungRun(double trial_s, double before_s, const RunSample& without) {
  const double took_s = static_cast<double>(without.wall_ns) / 1e9;
  if (FaultOf(without) == Fault::kHang || took_s > trial_s / kHungFactor)
    return {.machine_is_busy = true,
            .words = StrCat("the machine is busy: the command without it took ", Duration(took_s), " just now, ",
                            Duration(before_s), " before; start again when it is idle")};
  return {.words = StrCat("; without it the command took ", Duration(took_s), " right after")};
}

Beside CompareSlowRun(const Stage& trial, const Stage& before, const Stage& without, double limit) {
  Beside beside{.machine_is_busy = TimeRatio(before, without) > kBusyFactor,
                .fix_is_slow = TimeRatio(without, trial) > limit};
  beside.words = StrCat("; without it a step took ", Step(without), " right after",
                        beside.machine_is_busy ? StrCat(", on a busy machine (", Step(before), " before)") : "");
  return beside;
}

void MachineWatch::Add(double step_ms, double usual_ms) {
  if (step_ms <= 0 || usual_ms <= 0) return;
  ++runs_;
  if (step_ms <= kBusyFactor * usual_ms) return;
  ++slow_;
  worst_ = std::max(worst_, step_ms / usual_ms);
}

std::string MachineWatch::Warning() const {
  // A single slow measurement is reported only if it was slow enough that a first run would be cut.
  const bool is_once = slow_ < 2 && worst_ < kCutFactor;
  if (is_once || static_cast<double>(slow_) <= kMaxShareSlow * static_cast<double>(runs_)) return "";
  return StrCat("the machine was busy: in ", slow_, " of ", runs_, " measurements the same command took up to ",
                FormatNumber(worst_, 1), " times as long for a step; start again when it is idle");
}

}  // namespace gapless::internal
