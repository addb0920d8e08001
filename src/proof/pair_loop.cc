// SPDX-License-Identifier: Apache-2.0
// Runs pairs. A pair counts only as a whole: if the second side gives no sample, the first one is dropped, too.
#include "proof/pair_loop.h"

#include <algorithm>
#include <array>
#include <random>
#include <utility>

namespace gapless::internal {

namespace {

using Duration = PairLoop::Clock::duration;

// The mean time of the pairs so far, or what was expected of the first.
class PairTime {
 public:
  explicit PairTime(std::optional<Duration> expected) : expected_(expected) {}
  void Add(Duration took) { all_ += took, ++pairs_; }
  Duration Next() const {
    if (!expected_) return Duration::zero();
    return pairs_ == 0 ? *expected_ : all_ / pairs_;
  }

 private:
  std::optional<Duration> expected_;
  Duration all_ = Duration::zero();
  int pairs_ = 0;
};

}  // namespace

Result<PairLoopEnd> RunPairLoop(const PairLoop& loop) {
  std::mt19937_64 coin(loop.seed);
  PairTime time(loop.pair_takes);
  size_t repeats = loop.is_disturbed ? loop.max_repeats : 0;
  for (size_t pairs = loop.done; pairs < loop.max_pairs;) {
    const auto begun = loop.now();
    if (begun >= loop.deadline - time.Next()) return PairLoopEnd::kNoTime;
    const bool b_first = (coin() >> 63) != 0;
    std::array<RunSample, 2> samples;
    for (const bool is_b : {b_first, !b_first}) {
      GAPLESS_ASSIGN(auto sample, loop.run(is_b));
      if (!sample) return PairLoopEnd::kStopped;
      samples[is_b ? 1 : 0] = std::move(*sample);
    }
    time.Add(loop.now() - begun);
    const auto still_needed = static_cast<int>(loop.min_pairs - std::min(pairs, loop.min_pairs));
    const bool has_time = loop.now() + time.Next() * still_needed < loop.deadline;
    if (repeats > 0 && has_time && std::ranges::any_of(samples, loop.is_disturbed)) {
      --repeats;
      if (loop.on_repeat) loop.on_repeat();
      continue;
    }
    ++pairs;
    GAPLESS_ASSIGN(const auto go_on, loop.add(std::move(samples[0]), std::move(samples[1])));
    if (!go_on) return PairLoopEnd::kEnough;
  }
  return PairLoopEnd::kMaxPairs;
}

}  // namespace gapless::internal
