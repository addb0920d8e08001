// SPDX-License-Identifier: Apache-2.0
// Intervals by resampling. The same seed gives the same interval on every machine. `statistic` is called with samples
// as long as the original; values must be finite. docs/STATISTICS.md says from what n on these intervals keep their
// level: below some hundred values none does, which is why gapless offers validate/interval.h instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/result.h"

namespace gapless::internal {

using Statistic = std::function<double(std::span<const double>)>;

struct BootstrapOptions {
  double level = 0.95;
  size_t resamples = 2000;  // at least 100
  uint64_t seed = 1;
};

struct BootstrapInterval {
  double low = 0, expected = 0, high = 0;  // expected is the statistic of the sample itself
  double block_length = 1;
};

// All of these refuse fewer than two values, NaN and infinities, a level outside (0, 1), and too few resamples.

// The quantiles of the resampled statistic (Efron 1979; Efron and Tibshirani 1993, section 13.3).
Result<BootstrapInterval> PercentileBootstrap(std::span<const double> sample, const Statistic& statistic,
                                              const BootstrapOptions& options = {});

// Bias-corrected and accelerated (Efron 1987; acceleration from the jackknife, Efron and Tibshirani 1993,
// equation 14.15). A statistic that does not vary gives a point.
Result<BootstrapInterval> BcaBootstrap(std::span<const double> sample, const Statistic& statistic,
                                       const BootstrapOptions& options = {});

enum class Blocks {
  kStationary,  // geometric lengths, wrapped around (Politis and Romano 1994)
  kMoving       // fixed lengths (Künsch 1989)
};

// Percentile interval of a series whose neighbours depend on each other; block_length 0 chooses OptimalBlockLength.
Result<BootstrapInterval> BlockBootstrap(std::span<const double> series, const Statistic& statistic, Blocks blocks,
                                         double block_length = 0, const BootstrapOptions& options = {});

// For the mean of a series: Politis and White 2004, section 3, as corrected by Patton, Politis and White 2009. kMoving
// gets the length of the circular bootstrap, which has the same optimum. From 1 to min(3 sqrt(n), n / 3), rounded up; 1
// for a constant or short series.
double OptimalBlockLength(std::span<const double> series, Blocks blocks);

}  // namespace gapless::internal
