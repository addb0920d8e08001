// SPDX-License-Identifier: Apache-2.0
// The line that a slow drift stays on, laid through the newest runs of a baseline. The level of all runs lags behind a
// drift, and every new run looks slower than that level. It does not look slower than the line.
#pragma once

#include <span>

#include "validate/series_noise.h"

namespace gapless::internal {

// Times are counted in runs; the last run of the baseline is at `middle`.
struct BaselineLine {
  double level = 0, slope = 0;  // value in the middle of the runs, change from run to run
  double slope_error = 0;       // standard error of the slope
  double middle = 0;            // runs from the middle to the last one
  double runs = 0;
  SeriesNoise noise;  // noise of a run around the line
};

// The line through the last 100 runs of the baseline, which has three at least.
BaselineLine LineThrough(std::span<const double> baseline);

// Returns how far the runs after the baseline lie above the line, in standard errors. A single run counts for ten
// standard deviations at most. The error of a line through few runs is itself not well known: of 10 runs the distance
// is divided by 1.4, of 40 by 1.1.
double DistanceFromLine(const BaselineLine& line, std::span<const double> window);

// The highest run of the baseline, where the line carries it by the middle of the next `ahead` runs. A line that falls
// carries nothing.
double HighestAhead(const BaselineLine& line, std::span<const double> baseline, size_t ahead);

}  // namespace gapless::internal
