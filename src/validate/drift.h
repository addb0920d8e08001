// SPDX-License-Identifier: Apache-2.0
// Slow drift of a history: a robust slope with an interval that knows that neighbours are alike.
#pragma once

#include <optional>
#include <span>

namespace gapless::internal {

struct Drift {
  double slope = 0;                // per run, in the metric's unit
  double low = 0, high = 0;        // 95 % interval of the slope
  double phi = 0;                  // lag-1 dependence of what is left after the slope
  std::optional<double> relative;  // slope over the median, per run; absent when the median is 0

  bool Drifts() const { return low > 0 || high < 0; }
};

// The median of the slopes between all pairs (Theil 1950; Sen 1968, Estimates of the regression coefficient based on
// Kendall's tau, JASA 63, with the interval of its section 3), the variance of Kendall's S multiplied by the long-run
// ratio (1+phi)/(1-phi) of the residuals (Yue, Wang 2004, The Mann-Kendall test modified by effective sample size,
// Water Resources Management 18). A level shift in the series is no drift but bends the slope: give it the runs since
// the last change point. Values that are not finite are left out, their places count. Absent below 10 values. Series
// beyond 1,000 values are cut into 1,000 stretches by medians.
std::optional<Drift> FindDrift(std::span<const double> values);

}  // namespace gapless::internal
