// SPDX-License-Identifier: Apache-2.0
// Divides the planner's budget among the remaining comparisons and the proof at the end.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "optimize/contest.h"

namespace gapless::internal {

constexpr int kPairsToDecide = 10;   // as many as a clear difference takes, looked at after every pair
constexpr int kPairsToProve = 8;     // looked at once
constexpr int kMinPairsToProve = 6;  // fewer have no 95 % interval by signed ranks
constexpr int kFewestPairs =
    3;  // for a gain of kFewPairsGain where there is no time for more: Student's interval is ± 2.5 sd
constexpr double kFewPairsGain = 1.5;
constexpr size_t kMaxPairsToProve = 24;

inline int PairsToProve(double speedup) { return speedup >= kFewPairsGain ? kFewestPairs : kMinPairsToProve; }

inline Clock::duration Lasting(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// A TimeBudget says when something has to end, from how long runs take now. Nothing is reserved: each answer is
// for the moment at which it is asked.
class TimeBudget {
 public:
  TimeBudget(Clock::time_point begun, double budget_s) : deadline_(begun + Lasting(budget_s)), budget_s_(budget_s) {}

  double command_s = 0;  // a run takes, as the command is
  double current_s = 0;  // and with those accepted so far: a step is shorter then, but the start may be longer
  bool has_accepted = false;

  Clock::time_point deadline() const { return deadline_; }
  Clock::duration PairTakes() const { return Lasting(2 * current_s); }
  Clock::duration ProofPairTakes() const { return Lasting(command_s + current_s); }
  // Returns when a contest has to be over. No time is kept for a proof before a fix is accepted: the pairs of the
  // first one prove it, too.
  Clock::time_point ContestDeadline() const {
    return has_accepted ? deadline_ - ProofPairTakes() * PairsOfProof(command_s + current_s) : deadline_;
  }
  // Returns when the contest of one of several fixes has to be over: it does not get all the remaining time, but
  // enough for a verdict. `to_come` counts the fixes to compare, with this one.
  Clock::time_point ShareDeadline(Clock::time_point now, size_t to_come) const {
    const double part = std::max(kShareOfTime, 1.0 / static_cast<double>(std::max<size_t>(1, to_come)));
    const auto share = std::chrono::duration_cast<Clock::duration>((ContestDeadline() - now) * part);
    return std::min(ContestDeadline(), now + std::max(share, PairTakes() * (kPairsToDecide + 2)));
  }
  // Returns when the proof has to begin if a fix whose runs take `run_s` is part of it. Blocks of one process do
  // not prove a gain; runs of their own have to.
  Clock::time_point ProofBegins(double run_s) const {
    const double pair_s = command_s + std::max(current_s, run_s);
    return deadline_ - Lasting(pair_s * PairsOfProof(pair_s));
  }

 private:
  // Share of the remaining budget for one comparison while many are to come.
  static constexpr double kShareOfTime = 0.3;
  // Share of the budget for the proof: if that would take longer, it gets fewer pairs. Where even those take half of
  // it, a large gain is all that can be proved.
  static constexpr double kShareOfProof = 0.35, kLargestShare = 0.5;

  int PairsOfProof(double pair_s) const {
    if (kPairsToProve * pair_s <= kShareOfProof * budget_s_) return kPairsToProve;
    return kMinPairsToProve * pair_s <= kLargestShare * budget_s_ ? kMinPairsToProve : kFewestPairs;
  }

  Clock::time_point deadline_;
  double budget_s_;
};

}  // namespace gapless::internal
