// SPDX-License-Identifier: Apache-2.0
// The rank that the others wait for, while the job runs: from the steps that the agents report.
//
// In each step that all ranks of this machine have reported, one may end it later than all others, and one may have
// waited longer for its batch, both by a hundredth of the step at least. If ranks are alike, each is the one in one of
// `ranks` steps; a rank is named when it is in so many of the last kSteps that chance does that in one of a hundred
// windows at most, over all ranks and both signs together (binomial test, Bonferroni).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "wire/agent_ring.h"

namespace gapless::internal {

enum class LateSign : uint8_t { kStepEnd, kBatch };
inline constexpr LateSign kLateSigns[] = {LateSign::kStepEnd, LateSign::kBatch};

// Returns the probability that of `trials` at least `hits` are hits, each with probability p.
double ChanceOfAtLeast(int64_t hits, int64_t trials, double p);

class LateRank {
 public:
  static constexpr size_t kSteps = 200;         // of the window
  static constexpr size_t kFewestSteps = 20;    // to say anything
  static constexpr double kFalseAlarms = 0.01;  // of a window, over all ranks

  void OnStep(int64_t rank, const wire::RingRecord& step);

  struct Finding {
    int64_t rank = 0;
    LateSign sign = LateSign::kStepEnd;
    int64_t hits = 0, steps = 0;
    int64_t behind_ns = 0;  // median of how far behind the next one it was in those
    bool late = false;      // beyond chance
  };
  // One for each rank and sign, by rank; empty: fewer than two ranks, or too few steps of all.
  std::vector<Finding> Findings() const;
  // "rank 3 ends steps last in 180 of the last 200, 12.1 ms behind the next (chance: 50)".
  static std::string TextOf(const Finding& finding, size_t ranks);

 private:
  struct Step {
    int64_t end_ns = 0, wait_ns = 0, dur_ns = 0;
  };
  std::map<int64_t, std::map<int64_t, Step>> steps_{};  // by rank and number
};

}  // namespace gapless::internal
