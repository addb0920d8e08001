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

constexpr std::array kAll = {Noise::kNormal, Noise::kLognormal, Noise::kOutliers,   Noise::kAr5,
                             Noise::kAr8,    Noise::kAr9,       Noise::kAr5Outliers};

double Phi(Noise noise) {
  switch (noise) {
    case Noise::kAr5:
    case Noise::kAr5Outliers: return 0.5;
    case Noise::kAr8: return 0.8;
    case Noise::kAr9: return 0.9;
    default: return 0;
  }
}

bool HasOutliers(Noise noise) { return noise == Noise::kOutliers || noise == Noise::kAr5Outliers; }

}  // namespace

std::span<const Noise> AllNoises() { return kAll; }

std::string_view NoiseName(Noise noise) {
  switch (noise) {
    case Noise::kNormal: return "normal";
    case Noise::kLognormal: return "lognormal";
    case Noise::kOutliers: return "outliers";
    case Noise::kAr5: return "AR(1) 0.5";
    case Noise::kAr8: return "AR(1) 0.8";
    case Noise::kAr9: return "AR(1) 0.9";
    case Noise::kAr5Outliers: return "AR(1) 0.5, outliers";
  }
  return "";
}

double TrueMean(Noise noise) {
  if (noise == Noise::kLognormal) return kLevel * std::exp(kSigma * kSigma / 2);
  return HasOutliers(noise) ? kLevel * (1 + kSlowShare * (kSlowLow + kSlowHigh) / 2) : kLevel;
}

double TrueMedian(Noise noise) {
  // A slow step at 10 % more would have to be five standard deviations low to fall below the median.
  return HasOutliers(noise) ? kLevel + kSd * NormalQuantile(0.5 / (1 - kSlowShare)) : kLevel;
}

std::vector<double> Simulate(Noise noise, size_t n, Random& random) {
  const double phi = Phi(noise);
  const double fresh = std::sqrt(1 - phi * phi);
  double z = random.Normal();
  std::vector<double> out;
  out.reserve(n);
  for (size_t i = 0; i < n; ++i) {
    if (i > 0) z = phi * z + fresh * random.Normal();
    double value = noise == Noise::kLognormal ? kLevel * std::exp(kSigma * z) : kLevel + kSd * z;
    if (HasOutliers(noise) && random.Uniform() < kSlowShare) {
      value *= 1 + kSlowLow + (kSlowHigh - kSlowLow) * random.Uniform();
    }
    out.push_back(value);
  }
  return out;
}

}  // namespace gapless::internal
