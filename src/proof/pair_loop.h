// SPDX-License-Identifier: Apache-2.0
// The one loop that runs A and B in pairs, in an order drawn at random within each pair.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/result.h"
#include "trial/run_sample.h"

namespace gapless::internal {

struct PairLoop {
  using Clock = std::chrono::steady_clock;

  size_t done = 0, max_pairs = 30;  // pairs that were run before, and the most with them
  uint64_t seed = 0;                // seed of the random order within each pair
  Clock::time_point deadline = Clock::time_point::max();
  // About the time of a pair; the mean of the loop counts from the second pair on. No pair begins that would end after
  // the deadline. Absent: a pair may end after it.
  std::optional<Clock::duration> pair_takes{};
  std::function<Clock::time_point()> now = Clock::now;
  // Runs one side. Absent: the loop ends without this pair.
  std::function<Result<std::optional<RunSample>>(bool is_b)> run{};
  // Was the machine at work for somebody else? A pair with such a run is run again, `max_repeats` times in all; with
  // more of them, all machines must be that busy, and their pairs count. What is asked has nothing to do with how long
  // the run took, so that leaving out its pair favours neither side. A pair counts all the same where no time would be
  // left for `min_pairs`. Null: nothing is run again.
  std::function<bool(const RunSample&)> is_disturbed{};
  size_t max_repeats = 3, min_pairs = 0;
  std::function<void()> on_repeat{};
  // Takes a pair; false: it is enough. An error ends the loop.
  std::function<Result<bool>(RunSample a, RunSample b)> add{};
};

enum class PairLoopEnd : uint8_t { kEnough, kMaxPairs, kNoTime, kStopped };

// Returns why the loop ended: `add` said so, all pairs were run, the deadline came, or `run` gave no sample.
Result<PairLoopEnd> RunPairLoop(const PairLoop& loop);

}  // namespace gapless::internal
