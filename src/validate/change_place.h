// SPDX-License-Identifier: Apache-2.0
// Finds the most likely place of a change between two levels, and its uncertainty.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "validate/series_noise.h"

namespace gapless::internal {

// Running sums of a series: the mean and scatter of any stretch in constant time.
class StretchSums {
 public:
  explicit StretchSums(std::span<const double> values);

  double Mean(size_t begin, size_t end) const;
  // Sum of squared distances from the mean.
  double Scatter(size_t begin, size_t end) const;
  // Sum over i in (begin, end) of ((y_i - level) - phi (y_{i-1} - level))^2: the innovations of an AR(1) around a
  // level.
  double Innovations(size_t begin, size_t end, double level, double phi) const;

 private:
  std::vector<double> sum_, square_,
      product_;  // sums of values, of squares, and of products of neighbours, before index i
};

struct ChangePlace {
  size_t index = 0;            // most likely first index of the new level
  size_t first = 0, last = 0;  // 95 % of the likelihood lies within
  double share = 1;            // share of the likelihood within `tolerance` of index
};

// The place of the one change between `begin` and `end`, near `guess` (80 indices either way at most), each level at
// least `least` values long. Profile likelihood of a mean shift in an AR(1) series, normalised over the places as a
// flat prior has it (Bai 1994, Least squares estimation of a shift in linear processes, J. Time Series Analysis 15;
// Smith 1975, A Bayesian approach to inference about a change-point, Biometrika 62). `guess` alone when the stretch is
// too short.
struct PlaceQuestion {
  size_t begin = 0, guess = 0, end = 0;
  size_t least = 1, tolerance = 0;
};
ChangePlace FindPlace(std::span<const double> values, const StretchSums& sums, const SeriesNoise& noise,
                      const PlaceQuestion& question);

}  // namespace gapless::internal
