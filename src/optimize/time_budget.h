// SPDX-License-Identifier: Apache-2.0
// How the planner's time is shared: among the contests that are still to come, and the proof at the end.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "optimize/contest.h"

namespace gapless::internal {

constexpr int kPairsToDecide = 10;  // as many as a clear difference takes, looked at after every pair
constexpr int kPairsToProve = 8;    // looked at once, which six could do

inline Clock::duration Lasting(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

class TimeBudget {
 public:
  explicit TimeBudget(Clock::time_point deadline) : deadline_(deadline) {}

  double command_s = 0;  // a run takes, as the command is
  double current_s = 0;  // and with those accepted so far: a step is shorter then, but the start may be longer
  bool has_accepted = false;

  Clock::time_point deadline() const { return deadline_; }
  Clock::duration PairTakes() const { return Lasting(2 * current_s); }
  Clock::duration ProofPairTakes() const { return Lasting(command_s + current_s); }
  // When a contest has to be over. One fix alone is proved by its own pairs.
  Clock::time_point ContestDeadline() const {
    return has_accepted ? deadline_ - ProofPairTakes() * kPairsToProve : deadline_;
  }
  // One of several fixes may not have all the time that is left, but enough for a verdict. `to_come`: with this one.
  Clock::time_point ShareDeadline(size_t to_come) const {
    const auto now = Clock::now();
    const double part = std::max(kShareOfTime, 1.0 / static_cast<double>(std::max<size_t>(1, to_come)));
    const auto share = std::chrono::duration_cast<Clock::duration>((ContestDeadline() - now) * part);
    return std::min(ContestDeadline(), now + std::max(share, PairTakes() * kPairsToDecide));
  }
  // When the proof has to begin, with a fix whose runs take `run_s`: what its blocks say of one process, runs of their
  // own have to prove.
  Clock::time_point ProofBegins(double run_s) const {
    return deadline_ - Lasting(command_s + std::max(current_s, run_s)) * kPairsToProve;
  }

 private:
  static constexpr double kShareOfTime = 0.3;  // of what is left, for one contest while many are to come

  Clock::time_point deadline_;
};

}  // namespace gapless::internal
