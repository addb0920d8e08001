// SPDX-License-Identifier: Apache-2.0
// Runs pairs. A pair counts only as a whole: if the second side gives no sample, the first one is dropped, too.
#include "proof/pair_loop.h"

#include <algorithm>
#include <array>
#include <random>
#include <utility>

namespace gapless::internal {

Result<PairLoopEnd> RunPairLoop(const PairLoop& loop) {
  std::mt19937_64 coin(loop.seed);
  PairLoop::Clock::duration pair_takes = loop.pair_takes.value_or(PairLoop::Clock::duration::zero());
  size_t repeats = loop.is_disturbed ? loop.max_repeats : 0;
  for (size_t pairs = loop.done; pairs < loop.max_pairs;) {
    const auto begun = loop.now();
    if (begun >= loop.deadline - pair_takes) return PairLoopEnd::kNoTime;
    const bool b_first = (coin() >> 63) != 0;
    std::array<RunSample, 2> samples;
    for (const bool is_b : {b_first, !b_first}) {
      auto sample = loop.run(is_b);
      if (!sample) return Unexpected{sample.error()};
      if (!*sample) return PairLoopEnd::kStopped;
      samples[is_b ? 1 : 0] = std::move(**sample);
    }
    const auto took = loop.now() - begun;
    if (loop.pair_takes) pair_takes = pairs == 0 ? took : std::max(pair_takes, took);
    if (repeats > 0 && std::ranges::any_of(samples, loop.is_disturbed)) {
      --repeats;
      if (loop.on_repeat) loop.on_repeat();
      continue;
    }
    ++pairs;
    const auto go_on = loop.add(std::move(samples[0]), std::move(samples[1]));
    if (!go_on) return Unexpected{go_on.error()};
    if (!*go_on) return PairLoopEnd::kEnough;
  }
  return PairLoopEnd::kMaxPairs;
}

}  // namespace gapless::internal
