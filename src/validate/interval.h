// SPDX-License-Identifier: Apache-2.0
// The interval that gapless offers for the typical step time of one process: it checks the dependence of the steps
// itself, and refuses where it could not keep its level. docs/STATISTICS.md has its measured coverage beside the
// textbook's.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"

namespace gapless::internal {

enum class Location { kMedian, kMean };

// Below these no interval is offered. The mean needs more: 2 % of slow steps move it, and a hundred steps may have none
// of them.
constexpr size_t kMinStepsForMedian = 30;
constexpr size_t kMinStepsForMean = 200;

struct OfferOptions {
  double level = 0.95;  // from 0.5 to 0.999
  Location location = Location::kMedian;
};

struct OfferedInterval {
  double low = 0, expected = 0, high = 0;  // expected is the sample's median or mean
  double level = 0;
  std::string method;  // a few words, for the report
};

struct Offer {
  size_t n = 0;
  std::optional<double>
      lag1;  // autocorrelation; of the values for the mean, of their ranks' normal scores for the median
  std::optional<double>
      effective_n;  // independent steps with the same information; a cautious figure. Absent for a constant series
  bool dependent = false;  // lag1 > 2 / sqrt(n); the interval allows for dependence whether this says so or not
  std::optional<OfferedInterval> interval;
  std::string refusal;             // one sentence, when there is no interval
  std::optional<size_t> needed_n;  // about how many steps an interval would take; absent if more steps do not help
};

// Steps in the order measured, without warm-up (validate/steady.h). Refused outright: NaN, infinities, a level out of
// range.
Result<Offer> OfferInterval(std::span<const double> steps, const OfferOptions& options = {});

}  // namespace gapless::internal
