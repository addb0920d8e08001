// SPDX-License-Identifier: Apache-2.0
// Noise for tests, the same on every compiler: normal deviates by Box and Muller from a seeded Mersenne twister.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

namespace gapless::internal::testing {

class Noise {
 public:
  explicit Noise(uint64_t seed) : bits_(seed) {}

  double Uniform() { return (static_cast<double>(bits_() >> 11) + 0.5) * 0x1p-53; }
  double Normal() { return std::sqrt(-2 * std::log(Uniform())) * std::cos(2 * std::numbers::pi * Uniform()); }

  // Normal values around a level, each following the one before it by phi.
  std::vector<double> Series(size_t count, double level, double sd, double phi = 0) {
    std::vector<double> values;
    double state = Normal();
    for (size_t i = 0; i < count; ++i) {
      values.push_back(level + sd * state);
      state = phi * state + std::sqrt(1 - phi * phi) * Normal();
    }
    return values;
  }

 private:
  std::mt19937_64 bits_;
};

}  // namespace gapless::internal::testing
