// SPDX-License-Identifier: Apache-2.0
// An interval for the typical step of one process.
//
// The trouble: steps depend on their neighbours (clocks, caches, the input pipeline), and then n of them hold less
// information than n. At a lag-1 autocorrelation of 0.5 the textbook's t interval and the bootstrap, both made for
// independent values, cover 66 to 90 % instead of 95. A test for dependence first, and one of two intervals after,
// inherits the test's weakness: with 30 steps it overlooks such a dependence in 40 % of the cases.
//
// The ways: batch means are nearly independent, but 100 steps make too few batches; a long-run variance by kernels
// (Newey and West 1987) is biased downwards at these n; block bootstraps cover 80 to 90 % below some hundred steps.
//
// The one chosen goes one way for all samples. The dependence is estimated by an AR(1), corrected for the bias of its
// coefficient at small n and raised by a part of its standard error, so that an unlucky sample seldom hides what is
// there; a nonparametric estimate (Geyer 1992) takes over where it finds more, for dependence of longer reach. Both
// give an autocorrelation time, and n over it the effective n.
//  - Median: the interval between two (interpolated) order statistics, placed as for the effective n independent values
//    (Hutson 1999). Outliers and skew do not matter to it. The dependence is that of the values' ranks: of a Gaussian
//    AR(1), the signs, which decide how the median wanders, have autocorrelations 2/pi asin(phi^k).
//  - Mean: Student's t with the effective n, the standard deviation freed of its bias under dependence, and the
//    skewness taken out by Hall's cubic transformation (1992).
// Few effective values are refused: their interval would reach past the ends of the sample, and it is there that
// strong dependence is mistaken for a weak one.
//
// The cost: with independent normal steps the median's interval is 1.3 to 1.5 times as wide as Student's t for the
// mean, 1.25 of which the median costs itself.
#include "validate/interval.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "base/strings.h"
#include "validate/dependence.h"
#include "validate/distributions.h"
#include "validate/steady.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

// The AR(1) coefficient is raised by this number of standard errors. bench/coverage.cc measured them: the smallest
// values at which all kinds of noise keep 93 % from the smallest n on.
constexpr double kRaiseForMedian = 1.3, kRaiseForMean = 0.5;
constexpr double kMinEffective = 7;  // at the level 0.95; with 6, AR(1) 0.9 gets too many intervals that miss
constexpr double kHighestPhi = 0.99;

// Normal scores of the ranks (Blom 1958); ties get the score of their middle rank. They have a lag-1 autocorrelation
// whatever the distribution, and outliers do not dominate it.
std::vector<double> NormalScores(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return ComesBefore(values[a], values[b]); });
  std::vector<double> scores(values.size());
  const auto n = static_cast<double>(values.size());
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double rank = static_cast<double>(begin + end + 1) / 2;
    const double score = NormalQuantile((rank - 0.375) / (n + 0.25));
    for (size_t i = begin; i < end; ++i) scores[order[i]] = score;
  }
  return scores;
}

// The AR(1) coefficient: lag1 has the bias -(1 + 4 phi) / n (Marriott and Pope 1954) and the variance (1 - phi^2) / n.
double CautiousPhi(double lag1, double n, double raise) {
  const double phi = std::min(lag1 + (1 + 4 * lag1) / n, kHighestPhi);
  const double error = std::sqrt(std::max(0.05, 1 - phi * phi) / n);
  return std::clamp(phi + raise * error, 0.0, kHighestPhi);
}

// 1 + 2 sum (1 - k/n) rho_k, where rho_k is phi^k for the mean and that of the signs for the median.
double Ar1Time(double phi, double n, Location location) {
  double tau = 1;
  double power = phi;
  for (double k = 1; k < n && power > 1e-4; ++k, power *= phi) {
    const double rho = location == Location::kMean ? power : 2 / std::numbers::pi * std::asin(power);
    tau += 2 * (1 - k / n) * rho;
  }
  return tau;
}

// The autocorrelation time of a series whose lag-1 autocorrelation is known.
double CautiousTime(std::span<const double> series, double lag1, Location location) {
  const auto n = static_cast<double>(series.size());
  const double phi = CautiousPhi(lag1, n, location == Location::kMean ? kRaiseForMean : kRaiseForMedian);
  const double geyer = AutocorrelationTime(series).value_or(1);
  // Signs forget faster than values: of an AR(1) with phi from 0.3 to 0.9 their sum is 0.6 to 0.7 of the values'.
  const double found = location == Location::kMean ? geyer : 1 + 0.7 * (geyer - 1);
  return std::max(Ar1Time(phi, n, location), found);
}

// The u at which the fractional order statistic of rank (n + 1) u lies below the median with probability 1 - tail:
// Hutson 1999, equation 5.
double LowerShare(double n, double tail) {
  double low = 0, high = 0.5;
  for (int i = 0; i < 34; ++i) {
    const double u = (low + high) / 2;
    (BetaCdf(0.5, (n + 1) * u, (n + 1) * (1 - u)) > 1 - tail ? low : high) = u;
  }
  return low;
}

double FractionalOrderStatistic(std::span<const double> sorted, double share) {
  const auto n = static_cast<double>(sorted.size());
  const double place = std::clamp((n + 1) * share - 1, 0.0, n - 1);
  return QuantileOfSorted(sorted, place / (n - 1));
}

OfferedInterval MedianInterval(std::span<const double> steps, double effective_n, double level) {
  const double u = LowerShare(effective_n, (1 - level) / 2);
  const auto sorted = Sorted(steps);
  return {.low = FractionalOrderStatistic(sorted, u),
          .expected = *Median(steps),
          .high = FractionalOrderStatistic(sorted, 1 - u),
          .level = level,
          .method = "order statistics of the median, at the effective n"};
}

// Hall 1992, "On the removal of skewness by transformation", the inverse of his equation T3.
double Unskewed(double t, double n, double skewness) {
  if (std::abs(skewness) < 1e-8) return t / std::sqrt(n);
  const double y = t / std::sqrt(n) - skewness / (6 * n);
  return (std::cbrt(1 + skewness * y) - 1) * 3 / skewness;
}

OfferedInterval MeanInterval(std::span<const double> steps, double effective_n, double level) {
  const auto n = static_cast<double>(steps.size());
  const double mean = *Mean(steps);
  const double tau = n / effective_n;
  const double unbiased = std::max(0.05, 1 - (tau - 1) / (n - 1));  // expectation of the variance under the dependence
  const double sd = *StandardDeviation(steps) / std::sqrt(unbiased);
  double cubes = 0;
  for (const double x : steps) cubes += std::pow((x - mean) / sd, 3);
  const double skewness = cubes / n;
  const double t = StudentQuantile(1 - (1 - level) / 2, effective_n - 1);
  return {.low = mean - sd * Unskewed(t, effective_n, skewness),
          .expected = mean,
          .high = mean - sd * Unskewed(-t, effective_n, skewness),
          .level = level,
          .method = "Student's t at the effective n, corrected for skewness"};
}

Offer Refuse(Offer offer, size_t needed, std::string why) {
  offer.needed_n = needed;
  offer.refusal = std::move(why);
  return offer;
}

}  // namespace

Result<Offer> OfferInterval(std::span<const double> steps, const OfferOptions& options) {
  GAPLESS_TRY(CheckFinite(steps));
  if (!(options.level >= 0.5 && options.level <= 0.999)) {
    return Fail(ErrorCode::kUsage, "the level of an interval must be from 0.5 to 0.999");
  }
  const bool is_mean = options.location == Location::kMean;
  const size_t least = is_mean ? kMinStepsForMean : kMinStepsForMedian;
  Offer offer;
  offer.n = steps.size();
  const auto series = is_mean ? std::vector<double>(steps.begin(), steps.end()) : NormalScores(steps);
  offer.lag1 = Lag1(series);
  if (offer.lag1) offer.dependent = LooksDependent(*offer.lag1, offer.n);
  if (offer.n < least) return Refuse(offer, least, StrCat("an interval needs ", least, " steps; there are ", offer.n));
  if (const auto growth = GrowthOf(steps)) {
    offer.refusal = StrCat("the steps grow all along: those of the last quarter take ", FormatNumber(*growth, 2),
                           " times as long as those of the first, and no single number stands for them");
    return offer;
  }
  if (!offer.lag1) {
    offer.interval = {steps[0], steps[0], steps[0], options.level, "all steps took the same time"};
    return offer;
  }
  const double tau = CautiousTime(series, *offer.lag1, options.location);
  offer.effective_n = static_cast<double>(offer.n) / tau;
  const double enough = kMinEffective * std::max(1.0, std::log(2 / (1 - options.level)) / std::log(2 / 0.05));
  if (*offer.effective_n < enough) {
    return Refuse(offer, static_cast<size_t>(std::ceil(enough * tau)),
                  StrCat("the steps depend on each other: ", offer.n, " of them hold as much information as ",
                         FormatNumber(*offer.effective_n, 1), " independent ones"));
  }
  offer.interval = is_mean ? MeanInterval(steps, *offer.effective_n, options.level)
                           : MedianInterval(steps, *offer.effective_n, options.level);
  return offer;
}

}  // namespace gapless::internal
