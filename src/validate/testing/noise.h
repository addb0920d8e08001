// SPDX-License-Identifier: Apache-2.0
// Noise as benchmarks have it, for simulations: the same numbers from the same seed with every compiler.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <string_view>
#include <vector>

namespace gapless::internal {

enum class NoiseKind { kNormal, kLognormal, kAr1, kOutliers };
inline constexpr NoiseKind kNoiseKinds[] = {NoiseKind::kNormal, NoiseKind::kLognormal, NoiseKind::kAr1,
                                            NoiseKind::kOutliers};
inline std::string_view NameOf(NoiseKind kind) {
  constexpr std::string_view kNames[] = {"normal", "lognormal", "AR(1) 0.5", "outliers"};
  return kNames[static_cast<int>(kind)];
}

class NoiseSource {
 public:
  explicit NoiseSource(uint64_t seed) : bits_(seed) {}
  double Uniform() { return (static_cast<double>(bits_() >> 11) + 0.5) * 0x1p-53; }
  double Normal() {
    const double radius = std::sqrt(-2 * std::log(Uniform()));
    return radius * std::cos(2 * std::numbers::pi * Uniform());
  }
  // Values around 1 with a coefficient of variation `cv`; of the outliers 2 % are 10 to 50 % longer besides.
  std::vector<double> Series(NoiseKind kind, double cv, size_t count) {
    std::vector<double> values(count);
    const double sigma = std::sqrt(std::log1p(cv * cv)), phi = 0.5;
    double state = Normal();
    for (double& value : values) {
      state = kind == NoiseKind::kAr1 ? phi * state + std::sqrt(1 - phi * phi) * Normal() : Normal();
      value = kind == NoiseKind::kLognormal ? std::exp(sigma * state - sigma * sigma / 2) : 1 + cv * state;
      if (kind == NoiseKind::kOutliers && Uniform() < 0.02) value *= 1.1 + 0.4 * Uniform();
    }
    return values;
  }

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

}  // namespace gapless::internal
