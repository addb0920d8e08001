// SPDX-License-Identifier: Apache-2.0
// A trial that looks slow may have met a busy machine. The command without the fix is then run right after it, and the
// comparison of the two shows if the fix or the machine changed.
#pragma once

#include <optional>
#include <string>

#include "optimize/contest.h"
#include "optimize/decision.h"

namespace gapless::internal {

constexpr double kBusyFactor = 1.25;  // the same command this much slower than before: other work takes the machine
constexpr double kCutFactor = 1.5;    // a first run whose steps take this much longer is not run to its end

struct Beside {
  bool machine_is_busy = false;  // the command itself is slower than before
  bool fix_is_slow = true;       // the trial is slower than the command right after it
  std::string words{};           // continues a reason: "; without it the command took 12 s right after"
};

// Judges a trial that was ended after `trial_s` seconds; `without` is a run of the command without the fix right
// after it. `before_s` is what runs of the command took until now. The machine is busy if the run hangs, too, or
// takes over half as long as the ended trial.
Beside CompareHungRun(double trial_s, double before_s, const RunSample& without);
// Judges a first run whose steps are longer than before; `without` is a run without the fix right after it.
// `before` is the stage without the fix, `limit` the ratio of step times from which a first run is slower.
Beside CompareSlowRun(const Stage& trial, const Stage& before, const Stage& without, double limit);

// A MachineWatch counts measurements of the same sets of fixes, runs or seconds of blocks, and the share of them
// in which the machine was slower than in the fastest one.
class MachineWatch {
 public:
  // Counts a measurement and the step time of the fastest one of its set. Values of 0 or less are not known and
  // not counted.
  void Add(double step_ms, double usual_ms);
  // A warning that names the busy machine; empty: at most a tenth of the measurements were slow.
  std::string Warning() const;

 private:
  size_t runs_ = 0, slow_ = 0;
  double worst_ = 1;
};

}  // namespace gapless::internal
