// SPDX-License-Identifier: Apache-2.0
// Series whose mean and median are known, as step times have them: what the errors of the statistics are measured on.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "validate/random.h"

namespace gapless::internal {

enum class SimulatedNoise {
  kNormal,     // around 100, standard deviation 2
  kLognormal,  // median 100, sigma 0.5
  kOutliers,   // kNormal, of which 2 % are slower by 10 to 50 %, uniformly
  kAr5,        // AR(1) with phi 0.5; marginally as kNormal, as are the next two
  kAr8,
  kAr9,
  kAr5Outliers  // kAr5 with the outliers of kOutliers
};

std::span<const SimulatedNoise> AllNoises();
std::string_view NoiseName(SimulatedNoise noise);
// Returns the mean of the marginal distribution.
double TrueMean(SimulatedNoise noise);
double TrueMedian(SimulatedNoise noise);
std::vector<double> Simulate(SimulatedNoise noise, size_t n, Random& random);

}  // namespace gapless::internal
