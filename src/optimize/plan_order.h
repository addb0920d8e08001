// SPDX-License-Identifier: Apache-2.0
// The order in which candidates are tried: by the gain that is expected per second of trial.
//
// The gain of a speedup s is 1 − 1/s, the share of step time that it saves. It is expected from blocks that
// measured the fix in the shared process (screening.h), else from candidates.h. A trial costs its first run, and then
//   - one process for a fix that is switched in blocks; nothing if its blocks are clear already;
//   - else kPairsToDecide pairs of runs, which is what a clear difference takes; kMinPairsToProve, looked at once,
//     where there is no time for them;
//   - a fix with a slow start takes longer in a run by what the first such start took on this machine (kSlowStartS
//     while none is known, in s), and half of that once its compiler's cache is warm.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "optimize/candidates.h"
#include "optimize/live_blocks.h"

namespace gapless::internal {

constexpr double kSlowStartS = 30;

// Blocks of the shared process, by item: against the command as it is.
using ScreenedArms = std::map<std::string, BlockArm, std::less<>>;

// A Promise is the expected gain and cost of a candidate's trial; times in s.
struct Promise {
  double speedup = 1;      // that it is ordered by
  double expected = 1;     // the speedup that `gapless predict` gives, or that blocks have measured
  double trial_s = 0;      // until it is decided
  double min_trial_s = 0;  // with as few pairs as can decide
  double later_run_s = 0;  // a run with it, once its compiler's cache is warm
  bool at_once = false;    // decided without a run, or the user's own file, which is never left out
  double PerSecond() const;
};

// `run_s`: a run with what is on takes. `is_alone`: nothing is on, so that the blocks of `screened` are its own.
// `slow_start_s`: a slow start takes longer than a usual one.
Promise PromiseOf(const Candidate& candidate, const ScreenedArms& screened, double run_s, bool is_alone,
                  double slow_start_s = kSlowStartS);

// Returns true if a fix that the candidate must beat (`TrialChoice::after`) is not decided.
bool MustWait(std::span<const Candidate> candidates, size_t index);

// The index of the candidate to try next, which is none that must wait; the first of equal ones. At least one candidate
// is given.
size_t NextOf(std::span<const Candidate> candidates, const ScreenedArms& screened, double run_s, bool is_alone,
              double slow_start_s = kSlowStartS);

}  // namespace gapless::internal
