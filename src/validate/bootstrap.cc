// SPDX-License-Identifier: Apache-2.0
// Implements bootstrap intervals: percentile and BCa (Efron 1987), and block resampling for dependent series with the
// automatic block length of Politis and White (2004).
#include "validate/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "validate/dependence.h"
#include "validate/distributions.h"
#include "validate/random.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

constexpr size_t kMinResamples = 100;

Result<void> Check(std::span<const double> sample, const BootstrapOptions& options) {
  GAPLESS_TRY(CheckFinite(sample));
  if (sample.size() < 2) return Fail(ErrorCode::kInput, "a bootstrap needs two values");
  if (!(options.level > 0 && options.level < 1)) {
    return Fail(ErrorCode::kUsage, "the level of an interval must be between 0 and 1");
  }
  if (options.resamples < kMinResamples) return Fail(ErrorCode::kUsage, "a bootstrap needs 100 resamples");
  return {};
}

// The sorted statistics of the resamples that `draw` makes.
template <class Draw>
std::vector<double> Resample(std::span<const double> sample, const Statistic& statistic, size_t resamples,
                             Draw&& draw) {
  std::vector<double> drawn(sample.size()), out;
  out.reserve(resamples);
  for (size_t i = 0; i < resamples; ++i) {
    draw(drawn);
    out.push_back(statistic(drawn));
  }
  std::sort(out.begin(), out.end(), ComesBefore);
  return out;
}

std::vector<double> ResampleSingly(std::span<const double> sample, const Statistic& statistic,
                                   const BootstrapOptions& options) {
  Random random(options.seed);
  return Resample(sample, statistic, options.resamples, [&](std::vector<double>& drawn) {
    for (double& x : drawn) x = sample[random.Index(sample.size())];
  });
}

BootstrapInterval Between(const std::vector<double>& sorted, double expected, double low, double high) {
  return {.low = QuantileOfSorted(sorted, low), .expected = expected, .high = QuantileOfSorted(sorted, high)};
}

// A sixth of the skewness of the jackknife's influence; absent influence is no acceleration.
double Acceleration(std::span<const double> sample, const Statistic& statistic) {
  std::vector<double> rest(sample.begin() + 1, sample.end()), left_out;
  for (size_t i = 0; i < sample.size(); ++i) {
    left_out.push_back(statistic(rest));
    if (i < rest.size()) rest[i] = sample[i];
  }
  const double mean = *Mean(left_out);
  double squares = 0, cubes = 0;
  for (const double value : left_out) {
    squares += (mean - value) * (mean - value);
    cubes += (mean - value) * (mean - value) * (mean - value);
  }
  return squares > 0 ? cubes / (6 * std::pow(squares, 1.5)) : 0;
}

// 1, or the smallest m after which max(5, sqrt(log10 n)) autocorrelations in a row are insignificant.
size_t LastSignificantLag(std::span<const double> r, double n) {
  const double limit = 2 * std::sqrt(std::log10(n) / n);
  const auto run = static_cast<size_t>(std::max(5.0, std::ceil(std::sqrt(std::log10(n)))));
  size_t insignificant = 0;
  for (size_t lag = 1; lag < r.size(); ++lag) {
    insignificant = std::abs(r[lag]) < limit ? insignificant + 1 : 0;
    if (insignificant == run) return std::max<size_t>(1, lag - run);
  }
  return r.size() - 1;
}

void DrawBlocks(std::span<const double> series, Blocks blocks, double length, Random& random,
                std::vector<double>& drawn) {
  const size_t n = series.size();
  const auto fixed = std::clamp<size_t>(static_cast<size_t>(std::lround(length)), 1, n);
  size_t place = 0, left = 0;
  for (double& x : drawn) {
    if (blocks == Blocks::kMoving && left == 0) {
      place = random.Index(n - fixed + 1);
      left = fixed;
    } else if (blocks == Blocks::kStationary && (left == 0 || random.Uniform() * length < 1)) {
      place = random.Index(n);
      left = n;  // never the end of a block: that is drawn
    }
    x = series[place];
    place = place + 1 == n ? 0 : place + 1;
    if (blocks == Blocks::kMoving) --left;
  }
}

}  // namespace

Result<BootstrapInterval> PercentileBootstrap(std::span<const double> sample, const Statistic& statistic,
                                              const BootstrapOptions& options) {
  GAPLESS_TRY(Check(sample, options));
  const double tail = (1 - options.level) / 2;
  return Between(ResampleSingly(sample, statistic, options), statistic(sample), tail, 1 - tail);
}

Result<BootstrapInterval> BcaBootstrap(std::span<const double> sample, const Statistic& statistic,
                                       const BootstrapOptions& options) {
  GAPLESS_TRY(Check(sample, options));
  const auto sorted = ResampleSingly(sample, statistic, options);
  const double expected = statistic(sample);
  if (sorted.front() == sorted.back()) return Between(sorted, expected, 0, 1);
  const auto range = std::equal_range(sorted.begin(), sorted.end(), expected);
  const auto count = static_cast<double>(sorted.size());
  // Resamples equal to the estimate count one half, as for any discrete distribution.
  const double below = static_cast<double>((range.first - sorted.begin()) + (range.second - sorted.begin())) / 2;
  const double bias = NormalQuantile(std::clamp(below / count, 0.5 / count, 1 - 0.5 / count));
  const double a = Acceleration(sample, statistic);
  const auto corrected = [&](double p) {
    const double z = bias + NormalQuantile(p);
    return NormalCdf(bias + z / (1 - a * z));
  };
  const double tail = (1 - options.level) / 2;
  return Between(sorted, expected, corrected(tail), corrected(1 - tail));
}

Result<BootstrapInterval> BlockBootstrap(std::span<const double> series, const Statistic& statistic, Blocks blocks,
                                         double block_length, const BootstrapOptions& options) {
  GAPLESS_TRY(Check(series, options));
  const double length = block_length >= 1 ? block_length : OptimalBlockLength(series, blocks);
  Random random(options.seed);
  const auto sorted = Resample(series, statistic, options.resamples,
                               [&](std::vector<double>& drawn) { DrawBlocks(series, blocks, length, random, drawn); });
  const double tail = (1 - options.level) / 2;
  auto interval = Between(sorted, statistic(series), tail, 1 - tail);
  interval.block_length = length;
  return interval;
}

double OptimalBlockLength(std::span<const double> series, Blocks blocks) {
  if (series.size() < 9) return 1;
  const auto n = static_cast<double>(series.size());
  const auto most_lags = static_cast<size_t>(std::ceil(std::sqrt(n))) + 5;
  const auto r = Autocorrelations(series, most_lags);
  if (r.size() < 2) return 1;
  const size_t lags = std::min(2 * LastSignificantLag(r, n), r.size() - 1);
  double g = 0, spectrum = r[0];  // both in units of the variance, which cancels
  for (size_t k = 1; k <= lags; ++k) {
    const double share = static_cast<double>(k) / static_cast<double>(lags);
    const double weight = share <= 0.5 ? 1 : 2 * (1 - share);  // the flat-top window
    g += 2 * weight * static_cast<double>(k) * r[k];
    spectrum += 2 * weight * r[k];
  }
  const double d = (blocks == Blocks::kStationary ? 2.0 : 4.0 / 3.0) * spectrum * spectrum;
  const double most = std::ceil(std::min(3 * std::sqrt(n), n / 3));
  if (!(d > 0)) return most;
  return std::clamp(std::cbrt(2 * g * g / d * n), 1.0, most);
}

}  // namespace gapless::internal
