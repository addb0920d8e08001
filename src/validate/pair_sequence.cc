// SPDX-License-Identifier: Apache-2.0
// Implements the sequential paired test: a test martingale for symmetry of the log ratios, mixed over a grid of bets,
// and the confidence sequence that follows from inverting it.
#include "validate/pair_sequence.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "validate/distributions.h"
#include "validate/rank_tests.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

constexpr double kMaxWeight = 1.2;
constexpr double kMinRate = 0.2, kMaxRate = 1.5;
constexpr double kNoScale = 1e-12;
constexpr int kCells = 64, kHalvings = 40;
constexpr double kPowerShown = 0.8;
constexpr double kRankEfficiency = 3 / std::numbers::pi;  // of signed ranks against the t test, for normal noise
constexpr size_t kMinPairsForScale = 3;

// The grid of λ, evenly spaced in the logarithm.
template <size_t N>
std::array<double, N> MakeRates() {
  std::array<double, N> rates;
  for (size_t i = 0; i < N; ++i) rates[i] = kMinRate * std::pow(kMaxRate / kMinRate, static_cast<double>(i) / (N - 1));
  return rates;
}

double MedianOfSorted(std::span<const double> sorted) {
  const size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

double LogCosh(double x) {
  x = std::abs(x);
  return x + std::log1p(std::exp(-2 * x)) - std::log(2.0);
}

double HighestEvidence(std::span<const double> values, double theta) {
  SymmetryEvidence evidence(theta);
  for (const double d : values) evidence.Add(d);
  return evidence.highest_log();
}

// The outermost θ on one side of `centre` that is not rejected; absent when none is rejected out there. Looked for from
// the outside in cells, so that an island beyond the first crossing is not lost.
std::optional<double> Edge(std::span<const double> values, double centre, double farthest, double threshold) {
  const auto rejected = [&](double theta) { return HighestEvidence(values, theta) >= threshold; };
  if (!rejected(farthest)) return std::nullopt;
  double out = farthest, in = centre;
  for (int cell = 1; cell <= kCells; ++cell) {
    in = farthest + (centre - farthest) * cell / kCells;
    if (!rejected(in)) break;
    out = in;
  }
  for (int i = 0; i < kHalvings && out != in; ++i) {
    const double middle = (in + out) / 2;
    (rejected(middle) ? out : in) = middle;
  }
  return out;
}

// The effect, in standard deviations of a pair, that signed ranks of `pairs` pairs find with a power of 80 % at a
// two-sided level. Where all pairs must have one sign, that is its probability; for more pairs the normal
// approximation with three pairs less, by which small numbers of pairs are within 3 % of a simulation.
double DetectableEffect(double level, size_t pairs) {
  const auto n = static_cast<double>(pairs);
  const bool need_one_sign = std::exp2(2 - n) > level;
  if (need_one_sign) return NormalQuantile(std::pow(kPowerShown, 1 / n));
  return (NormalQuantile(1 - level / 2) + NormalQuantile(kPowerShown)) / std::sqrt(kRankEfficiency * (n - 3));
}

}  // namespace

size_t FewestPairsToDecide(double alpha) {
  size_t pairs = 1;
  while (std::exp2(1 - static_cast<double>(pairs)) > alpha / 2) ++pairs;
  return pairs;
}

void SymmetryEvidence::Add(double d) {
  static const std::array<double, kRates> kRate = MakeRates<kRates>();
  d -= theta_;
  const double size = std::abs(d);
  sizes_.insert(std::upper_bound(sizes_.begin(), sizes_.end(), size), size);
  const double scale = std::max(kMadToSd * MedianOfSorted(sizes_), kNoScale);
  const double weight = std::clamp(d / scale, -kMaxWeight, kMaxWeight);
  sum_ += weight;
  double highest = -std::numeric_limits<double>::infinity();
  std::array<double, 2 * kRates> logs;
  for (size_t i = 0; i < kRates; ++i) {
    log_cosh_[i] += LogCosh(kRate[i] * weight);
    logs[2 * i] = kRate[i] * sum_ - log_cosh_[i];
    logs[2 * i + 1] = -kRate[i] * sum_ - log_cosh_[i];
    highest = std::max({highest, logs[2 * i], logs[2 * i + 1]});
  }
  double mixed = 0;
  for (const double log : logs) mixed += std::exp(log - highest);
  highest_ = std::max(highest_, highest + std::log(mixed / logs.size()));
}

PairSequence::PairSequence(const PairOptions& options)
    : options_(options), longer_(-std::log1p(-options.margin)), shorter_(std::log1p(-options.margin)) {}

void PairSequence::Add(double log_ratio) {
  log_ratios_.push_back(log_ratio);
  none_.Add(log_ratio);
  longer_.Add(log_ratio);
  shorter_.Add(log_ratio);
}

SpeedVerdict PairSequence::VerdictOfSequence() const {
  const double threshold = -std::log(options_.alpha);
  if (none_.highest_log() >= threshold && none_.side() != 0)
    return none_.side() < 0 ? SpeedVerdict::kFaster : SpeedVerdict::kSlower;
  const bool inside = longer_.side() < 0 && shorter_.side() > 0;
  if (inside && longer_.highest_log() >= threshold && shorter_.highest_log() >= threshold)
    return SpeedVerdict::kEquivalent;
  return SpeedVerdict::kCannotTell;
}

bool PairSequence::IsDecidedAtTheEnd() const {
  if (!is_over_ || VerdictOfSequence() != SpeedVerdict::kCannotTell) return false;
  const auto ranks = SignedRank(log_ratios_);
  const auto shift = HodgesLehmann(log_ratios_, 1 - options_.alpha / 2);
  return ranks && shift && shift->low && shift->high && ranks->p <= options_.alpha / 2 &&
         (*shift->low > 0 || *shift->high < 0);
}

SpeedVerdict PairSequence::Verdict() const {
  if (!IsDecidedAtTheEnd()) return VerdictOfSequence();
  return HodgesLehmann(log_ratios_)->estimate < 0 ? SpeedVerdict::kFaster : SpeedVerdict::kSlower;
}

double PairSequence::AnytimeP() const {
  if (IsDecidedAtTheEnd()) return 2 * SignedRank(log_ratios_)->p;
  return std::min(1.0, std::exp(-none_.highest_log()));
}

RatioInterval PairSequence::Interval() const {
  if (log_ratios_.empty()) return {};
  if (IsDecidedAtTheEnd()) {
    const auto shift = HodgesLehmann(log_ratios_, 1 - options_.alpha / 2);
    return {.low = std::exp(*shift->low), .high = std::exp(*shift->high), .expected = std::exp(shift->estimate)};
  }
  const auto shift = HodgesLehmann(log_ratios_);
  const double centre = shift ? shift->estimate : 0, threshold = -std::log(options_.alpha);
  const auto [least, most] = std::minmax_element(log_ratios_.begin(), log_ratios_.end());
  const double beyond = (*most - *least) + kNoScale;
  const auto low = Edge(log_ratios_, centre, *least - beyond, threshold),
             high = Edge(log_ratios_, centre, *most + beyond, threshold);
  RatioInterval interval;
  interval.expected = std::exp(centre);
  if (low) interval.low = std::exp(*low);
  if (high) interval.high = std::exp(*high);
  return interval;
}

std::optional<double> PairSequence::DetectableShare(size_t pairs) const {
  const auto scale = MedianAbsoluteDeviation(log_ratios_);
  if (!scale || log_ratios_.size() < kMinPairsForScale || pairs < FewestPairsToDecide(options_.alpha))
    return std::nullopt;
  return std::expm1(*scale * DetectableEffect(options_.alpha / 2, pairs));
}

}  // namespace gapless::internal
