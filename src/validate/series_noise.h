// SPDX-License-Identifier: Apache-2.0
// Estimates the noise of a series, robust to level shifts, outliers and ties.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace gapless::internal {

// Noise around a level: its standard deviation, and how a value follows the one before it (AR(1) coefficient, 0 to
// kMaxPhi).
struct SeriesNoise {
  double sd = 0;
  double phi = 0;

  // Variance of the mean of a long stretch, over what it would be were values independent.
  double LongRunRatio() const { return (1 + phi) / (1 - phi); }
  // Variance of the mean of n values, over that of one (Priestley 1981, section 5.3.2).
  double MeanVariance(size_t n) const;
};
inline constexpr double kMaxPhi = 0.9;

// The lag-1 coefficient that `n` values can support: pulled towards 0, as if ten independent values stood beside them,
// and 0 below 1.3 standard errors. A short series alone does not show dependence.
double CredibleDependence(double phi, size_t n);

// The median of the `window` values around each; at the ends, of those there are.
std::vector<double> RunningMedian(std::span<const double> values, size_t window);

// Values pulled towards the running median, to within `limit` robust standard deviations (Hampel 1974, The influence
// curve and its role in robust estimation, JASA 69: the median distance from it, of the whole series or of the five
// windows around, whichever is larger, so that a noisy stretch keeps its noise). Where most values equal that median,
// `floor_sd` is the least deviation.
std::vector<double> Winsorise(std::span<const double> values, size_t window, double limit, double floor_sd);

// The same for values at one level: around their median.
std::vector<double> WinsoriseAroundMedian(std::span<const double> values, double limit, double floor_sd);

// The standard deviation that the resolution of a measurement alone gives: half its step, when the values tie so often
// that a step shows (fewer distinct values than half), else the digits a double has.
double ResolutionFloor(std::span<const double> values);

// The noise of neighbours' differences, which a level shift touches once: root mean square, over the square root of 2,
// each at most the 3.5-fold of their robust deviation (von Neumann et al. 1941, The mean square successive difference).
// A first guess, which is too small for dependent values.
double SdByDifferences(std::span<const double> values, double floor_sd);

// Noise by what is left of `values` when each stretch (first indices in `starts`) has its mean taken off. The lag-1
// coefficient is corrected for the means that were fitted (Kendall 1954, Note on bias in the estimation of
// autocorrelation: -(1+3 phi)/n each).
SeriesNoise NoiseByResiduals(std::span<const double> values, std::span<const size_t> starts, double floor_sd);

}  // namespace gapless::internal
