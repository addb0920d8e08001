// SPDX-License-Identifier: Apache-2.0
// Values of a given place in the sorted order, found without sorting. For what is typical of rows of a recording;
// validate/summary.h describes samples of measurements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>

namespace gapless::internal {

// The element at place `place` of the sorted order, which must be below the size. Reorders the values.
template <std::ranges::random_access_range Values, class Projection = std::identity>
auto NthOf(Values&& values, size_t place, Projection projection = {}) {
  const auto at = std::ranges::begin(values) + static_cast<std::ptrdiff_t>(place);
  std::ranges::nth_element(values, at, {}, projection);
  return *at;
}

// The middle element, of an even number the upper one: always one of the values, of which there must be one at least.
// Reorders them.
template <std::ranges::random_access_range Values, class Projection = std::identity>
auto UpperMedian(Values&& values, Projection projection = {}) {
  return NthOf(values, std::ranges::size(values) / 2, projection);
}

// The median, of an even number the mean of the middle two, which cannot overflow. Reorders the values, of which there
// must be one at least.
template <std::ranges::random_access_range Values>
double MedianOf(Values&& values) {
  const double upper = UpperMedian(values);
  if (std::ranges::size(values) % 2 == 1) return upper;
  const auto middle = std::ranges::begin(values) + static_cast<std::ptrdiff_t>(std::ranges::size(values) / 2);
  const double lower = *std::max_element(std::ranges::begin(values), middle);
  return lower + (upper - lower) / 2;
}

}  // namespace gapless::internal
