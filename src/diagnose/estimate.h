// SPDX-License-Identifier: Apache-2.0
// First estimate of what a fix saves: Amdahl's law over the affected intervals, before anything is simulated.
//
// A rule says how much of the analysed time would go away at least, probably and at most; the step then shrinks by that
// share. The bounds are of what was seen idle or running, so they cannot promise more than there is. A simulator that
// replays the trace replaces this function: it gets the item of `predict --what` and returns the same Gain.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "diagnose/bottleneck.h"
#include "diagnose/ledger_view.h"

namespace gapless::internal {

struct TimeAtStake {
  int64_t wall_ns = 0;                              // analysed time, summed over the affected devices
  double low_ns = 0, expected_ns = 0, high_ns = 0;  // time that would go away: the estimate and its bounds
  double confidence = 0;                            // 0–1
};

// Orders and bounds the three (0 ≤ low ≤ expected ≤ high < wall) and turns them into speedup factors.
Gain EstimateGain(const TimeAtStake& stake);

// RemovableTime is how much of each kind of time estimates may still take away. Gains over the same kind of time do not
// add up: those that remove idle time together remove at most all idle time, those that shorten kernels at most what
// the kernels take, and so for communication. A finding that asks for more than its kind ever was is about other time,
// too. Without a device there is only the host's time, of which 5 % always stay.
class RemovableTime {
 public:
  explicit RemovableTime(const LedgerView& ledger);
  // Returns the part of `share` of the recorded step that can still go.
  double LeftOf(double share, BottleneckType type) const;
  void Take(double share, BottleneckType type);

 private:
  static constexpr size_t kKinds = 3;
  bool device_ = false;
  std::array<double, kKinds> all_{}, left_{};
};

}  // namespace gapless::internal
