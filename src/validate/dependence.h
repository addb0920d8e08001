// SPDX-License-Identifier: Apache-2.0
// Measures the autocorrelation of steps and the effective number of independent steps. Functions expect finite values
// in the order in which they were measured.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace gapless::internal {

// Autocorrelations at lags 0 to max_lag, with the divisor n (Box and Jenkins 1970, equation 2.1.12), so that the
// sequence is positive semidefinite. Empty for a constant series or below two values; no lag reaches past n - 1.
std::vector<double> Autocorrelations(std::span<const double> series, size_t max_lag);

// The autocorrelation at lag 1. Absent for a constant series and below three values.
std::optional<double> Lag1(std::span<const double> series);

// The lag-1 autocorrelation is more than twice its standard error under independence, 1 / sqrt(n) (Bartlett 1946).
bool LooksDependent(double lag1, size_t n);

// Autocorrelation time tau = 1 + 2 * sum of the autocorrelations, by the initial monotone sequence (Geyer 1992,
// section 3.3): pairs of neighbouring lags are summed while they are positive, none above the one before. Chosen over
// Sokal's window (1997), which assumes that the series is a thousand times longer than tau; Geyer's errs upwards on
// short series. At least 1: alternating series are not credited. Absent where Lag1 is.
std::optional<double> AutocorrelationTime(std::span<const double> series);

// Returns n / tau: the number of independent values with the same information about the mean.
std::optional<double> EffectiveSampleSize(std::span<const double> series);

// Long-run variance, the limit of n * Var(mean): Bartlett's kernel (Newey and West 1987) with the automatic bandwidth
// of an AR(1) (Andrews 1991, equations 5.3, 6.2 and 6.4). Zero for a constant series; absent below three values.
std::optional<double> LongRunVariance(std::span<const double> series);
// The same at a bandwidth of the caller's: lag k weighs 1 - k / bandwidth.
std::optional<double> LongRunVariance(std::span<const double> series, double bandwidth);
std::optional<double> AndrewsBandwidth(std::span<const double> series);

}  // namespace gapless::internal
