// SPDX-License-Identifier: Apache-2.0
// Generates step times with known mean and median: normal, skewed, autocorrelated, and with outliers.
#include "validate/simulate.h"

#include <array>
#include <cmath>

#include "validate/distributions.h"

namespace gapless::internal {
namespace {

constexpr double kLevel = 100, kSd = 2, kSigma = 0.5;
constexpr double kSlowShare = 0.02, kSlowLow = 0.1, kSlowHigh = 0.5;

constexpr std::array kAll = {SimulatedNoise::kNormal,     SimulatedNoise::kLognormal, SimulatedNoise::kOutliers,
                             SimulatedNoise::kAr5,        SimulatedNoise::kAr8,       SimulatedNoise::kAr9,
                             SimulatedNoise::kAr5Outliers};

double Phi(SimulatedNoise noise) {
  switch (noise) {
    case SimulatedNoise::kAr5:
    case SimulatedNoise::kAr5Outliers: return 0.5;
    case SimulatedNoise::kAr8: return 0.8;
    case SimulatedNoise::kAr9: return 0.9;
    default: return 0;
  }
}

bool HasOutliers(SimulatedNoise noise) {
  return noise == SimulatedNoise::kOutliers || noise == SimulatedNoise::kAr5Outliers;
}

}  // namespace

std::span<const SimulatedNoise> AllNoises() { return kAll; }

std::string_view NoiseName(SimulatedNoise noise) {
  switch (noise) {
    case SimulatedNoise::kNormal: return "normal";
    case SimulatedNoise::kLognormal: return "lognormal";
    case SimulatedNoise::kOutliers: return "outliers";
    case SimulatedNoise::kAr5: return "AR(1) 0.5";
    case SimulatedNoise::kAr8: return "AR(1) 0.8";
    case SimulatedNoise::kAr9: return "AR(1) 0.9";
    case SimulatedNoise::kAr5Outliers: return "AR(1) 0.5, outliers";
  }
  return "";
}

double TrueMean(SimulatedNoise noise) {
  if (noise == SimulatedNoise::kLognormal) return kLevel * std::exp(kSigma * kSigma / 2);
  return HasOutliers(noise) ? kLevel * (1 + kSlowShare * (kSlowLow + kSlowHigh) / 2) : kLevel;
}

double TrueMedian(SimulatedNoise noise) {
  // A slow step at 10 % more would have to be five standard deviations low to fall below the median.
  return HasOutliers(noise) ? kLevel + kSd * NormalQuantile(0.5 / (1 - kSlowShare)) : kLevel;
}

std::vector<double> Simulate(SimulatedNoise noise, size_t n, Random& random) {
  const double phi = Phi(noise);
  const double fresh = std::sqrt(1 - phi * phi);
  double z = random.Normal();
  std::vector<double> out;
  out.reserve(n);
  for (size_t i = 0; i < n; ++i) {
    if (i > 0) z = phi * z + fresh * random.Normal();
    double value = noise == SimulatedNoise::kLognormal ? kLevel * std::exp(kSigma * z) : kLevel + kSd * z;
    if (HasOutliers(noise) && random.Uniform() < kSlowShare) {
      value *= 1 + kSlowLow + (kSlowHigh - kSlowLow) * random.Uniform();
    }
    out.push_back(value);
  }
  return out;
}

}  // namespace gapless::internal
