// SPDX-License-Identifier: Apache-2.0
// Draws of a simulated job that depend on what they are for and not on what was drawn before, so that a job with a
// fault has the noise of the same job without it.
#pragma once

#include <cmath>
#include <cstdint>

namespace gapless::internal::testing {

enum class Draw : uint64_t {
  kLayout,
  kPlan,
  kFault,
  kGpuSpeed,
  kLink,
  kClock,
  kDrift,
  kRecorder,
  kKernel,
  kHiccup,
  kLaunch,
  kPause,
  kLoader,
  kTokens,
  kExperts,
  kTransfer,
  kCongestion,
  kEnd,
  kTheft,
  kGarbage,
  kSettings,
};  // clang-format off
// clang-format on

inline uint64_t Mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

class Draws {
 public:
  explicit Draws(uint64_t seed) : seed_(Mixed(seed)) {}

  uint64_t Bits(Draw what, uint64_t a, uint64_t b = 0) const {
    return Mixed(Mixed(seed_ ^ (static_cast<uint64_t>(what) << 56) ^ a) + b);
  }
  // In [0, 1).
  double Uniform(Draw what, uint64_t a, uint64_t b = 0) const {
    return static_cast<double>(Bits(what, a, b) >> 11) * 0x1.0p-53;
  }
  double Between(double low, double high, Draw what, uint64_t a, uint64_t b = 0) const {
    return low + (high - low) * Uniform(what, a, b);
  }
  int Index(int count, Draw what, uint64_t a, uint64_t b = 0) const {
    return static_cast<int>(Uniform(what, a, b) * count);
  }
  bool Chance(double share, Draw what, uint64_t a, uint64_t b = 0) const { return Uniform(what, a, b) < share; }
  // Nearly normal, up to 4.9 standard deviations: the sum of eight uniform numbers of 16 bits.
  double Normal(Draw what, uint64_t a, uint64_t b = 0) const {
    const uint64_t first = Bits(what, a, b), second = Mixed(first);
    double sum = 0;
    for (int shift = 0; shift < 64; shift += 16)
      sum += static_cast<double>((first >> shift) & 0xffff) + static_cast<double>((second >> shift) & 0xffff);
    return (sum / 65536.0 - 4) * 1.2247448713915890;
  }

 private:
  uint64_t seed_;
};

}  // namespace gapless::internal::testing
