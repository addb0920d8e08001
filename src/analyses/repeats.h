// SPDX-License-Identifier: Apache-2.0
// Finds short sequences that repeat in a row in a stream of tokens, in one pass.
//
// For every period p up to kMaxPeriod it counts how many tokens in a row equal the one p before them. A count that ends
// at m means a stretch of m + p tokens with that period. Of the periods that describe one stretch the shortest is
// reported: the multiples of p match as well, and later. Cost: kMaxPeriod comparisons a token, no memory of its own
// beyond the last kMaxPeriod tokens.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace gapless::internal {

inline constexpr size_t kMaxPeriod = 8;
inline constexpr size_t kMinRepeats = 16;

struct Repeat {
  size_t first = 0, last = 0;  // ordinals of tokens, [first, last): whole repetitions only
  size_t period = 0;
  size_t count() const { return (last - first) / period; }
};

// Feed tokens in order; `found(Repeat)` is called for each stretch of at least kMinRepeats repetitions when it is
// over, for the last after Finish. Stretches do not overlap and come in order.
template <class Found>
class RepeatFinder {
 public:
  explicit RepeatFinder(Found found) : found_(found) {}

  void Add(uint64_t token) {
    size_t broken = 0;  // the shortest period that ends here, long enough
    for (size_t period = 1; period <= kMaxPeriod; ++period) {
      const bool same = next_ >= start_ + period && last_[(next_ - period) % kMaxPeriod] == token;
      if (same) {
        ++matched_[period];
        continue;
      }
      if (broken == 0 && LongEnough(period)) broken = period;
      if (broken != period) matched_[period] = 0;
    }
    if (broken != 0) Report(broken);
    last_[next_ % kMaxPeriod] = token;
    ++next_;
  }

  // The stream is over, or what follows has nothing to do with what came before.
  void Finish() {
    for (size_t period = 1; period <= kMaxPeriod; ++period)
      if (LongEnough(period)) {
        Report(period);
        break;
      }
    matched_.fill(0);
    start_ = next_;
  }

 private:
  bool LongEnough(size_t period) const { return matched_[period] + period >= kMinRepeats * period; }

  void Report(size_t period) {
    const size_t length = matched_[period] + period, whole = length / period * period;
    const size_t first = next_ - length;
    matched_.fill(0);
    start_ = next_;  // what is over is not looked at again
    found_(Repeat{first, first + whole, period});
  }

  Found found_;
  std::array<uint64_t, kMaxPeriod> last_{};
  std::array<size_t, kMaxPeriod + 1> matched_{};
  size_t next_ = 0, start_ = 0;
};

}  // namespace gapless::internal
