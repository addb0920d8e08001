// SPDX-License-Identifier: Apache-2.0
// Estimates autocorrelation, the effective sample size, and the long-run variance of a series.
#include "validate/dependence.h"

#include <algorithm>
#include <cmath>

#include "validate/summary.h"

namespace gapless::internal {
namespace {

std::vector<double> Centred(std::span<const double> series) {
  std::vector<double> centred(series.begin(), series.end());
  const double mean = Mean(series).value_or(0);
  for (double& x : centred) x -= mean;
  return centred;
}

double Autocovariance(std::span<const double> centred, size_t lag) {
  double sum = 0;
  for (size_t i = lag; i < centred.size(); ++i) sum += centred[i] * centred[i - lag];
  return sum / static_cast<double>(centred.size());
}

// Rounding of the mean leaves a constant series with a variance of its last digits.
bool IsConstant(std::span<const double> series) {
  return std::all_of(series.begin(), series.end(), [&](double x) { return x == series.front(); });
}

}  // namespace

std::vector<double> Autocorrelations(std::span<const double> series, size_t max_lag) {
  if (series.size() < 2 || IsConstant(series)) return {};
  const auto centred = Centred(series);
  const double variance = Autocovariance(centred, 0);
  if (!(variance > 0)) return {};
  std::vector<double> out;
  for (size_t lag = 0; lag <= std::min(max_lag, series.size() - 1); ++lag) {
    out.push_back(Autocovariance(centred, lag) / variance);
  }
  return out;
}

std::optional<double> Lag1(std::span<const double> series) {
  if (series.size() < 3) return std::nullopt;
  const auto r = Autocorrelations(series, 1);
  if (r.size() < 2) return std::nullopt;
  return r[1];
}

bool LooksDependent(double lag1, size_t n) { return lag1 > 2 / std::sqrt(static_cast<double>(n)); }

std::optional<double> AutocorrelationTime(std::span<const double> series) {
  if (series.size() < 3 || IsConstant(series)) return std::nullopt;
  const auto centred = Centred(series);
  const double variance = Autocovariance(centred, 0);
  if (!(variance > 0)) return std::nullopt;
  double tau = -1, before = 2;
  for (size_t lag = 0; lag + 1 < series.size(); lag += 2) {
    const double pair = (Autocovariance(centred, lag) + Autocovariance(centred, lag + 1)) / variance;
    if (pair <= 0) break;
    before = std::min(before, pair);
    tau += 2 * before;
  }
  return std::max(1.0, tau);
}

std::optional<double> EffectiveSampleSize(std::span<const double> series) {
  const auto tau = AutocorrelationTime(series);
  if (!tau) return std::nullopt;
  return static_cast<double>(series.size()) / *tau;
}

std::optional<double> AndrewsBandwidth(std::span<const double> series) {
  const auto lag1 = Lag1(series);
  if (!lag1) return std::nullopt;
  const double rho = std::clamp(*lag1, -0.97, 0.97);  // as Andrews advises, lest a trend takes all of the series
  const double alpha = 4 * rho * rho / ((1 - rho) * (1 - rho) * (1 + rho) * (1 + rho));
  return 1.1447 * std::cbrt(alpha * static_cast<double>(series.size()));
}

std::optional<double> LongRunVariance(std::span<const double> series, double bandwidth) {
  if (series.size() < 3) return std::nullopt;
  if (IsConstant(series)) return 0.0;
  const auto centred = Centred(series);
  double sum = Autocovariance(centred, 0);
  for (size_t lag = 1; lag < series.size() && static_cast<double>(lag) < bandwidth; ++lag) {
    sum += 2 * (1 - static_cast<double>(lag) / bandwidth) * Autocovariance(centred, lag);
  }
  return std::max(0.0, sum);
}

std::optional<double> LongRunVariance(std::span<const double> series) {
  return LongRunVariance(series, AndrewsBandwidth(series).value_or(0));
}

}  // namespace gapless::internal
