// SPDX-License-Identifier: Apache-2.0
// Draws from a seed given by the caller: the same numbers on every compiler, which the distributions of <random> do not
// promise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace gapless::internal {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  // In [0, 1): the upper 53 bits of a draw.
  double Uniform() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }
  // In [0, count), for 0 < count < 2^32. Multiplication instead of division (Lemire 2019, section 3); the bias is below
  // 2^-32.
  size_t Index(size_t count) { return static_cast<size_t>(((engine_() >> 32) * static_cast<uint64_t>(count)) >> 32); }
  // Standard normal, by the polar method (Marsaglia and Bray 1964).
  double Normal();

 private:
  std::mt19937_64 engine_;
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace gapless::internal
