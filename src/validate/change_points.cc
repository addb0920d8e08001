// SPDX-License-Identifier: Apache-2.0
// The series' noise decides what is a change, and its changes decide what is noise. So both are found in turns:
//
//   1. Values far from the median of their neighbours are pulled in: one slow run is no level.
//   2. The cheapest partition into levels (optimal_partition.h) at a penalty per change of c ln n (Schwarz 1978; Yao
//      1988, Estimating the number of change-points via Schwarz' criterion) in units of the noise's variance. First
//      with the noise of neighbours' differences and no dependence, which finds too many changes when values depend on
//      each other.
//   3. What is left after the levels gives the noise and its dependence anew; the penalty is multiplied by the long-run
//      variance ratio (1+phi)/(1-phi) (Bai 1994; Lavielle, Moulines 2000, Least-squares estimation of an unknown number
//      of shifts in a time series); again from 2. Coming from too many changes, a missed change does not pass for
//      dependence, which would hide it.
//   4. Each change moves to its likeliest place under that dependence (change_place.h). A dependent series shows a
//      change best in the one step where it happens, which the partition, blind to order within a level, does not see.
//   5. The weakest change goes until all hold: enough standard errors between the levels next to it, by the noise of
//      these two levels shrunk to that of the series, so that a noisy stretch does not break into pieces; and enough of
//      its likelihood near one place.
#include "validate/change_points.h"

#include <algorithm>
#include <cmath>

#include "validate/change_place.h"
#include "validate/optimal_partition.h"
#include "validate/series_noise.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

constexpr size_t kMedianWindow = 11;
constexpr double kOutlierLimit = 3.5;  // robust standard deviations
constexpr int kNoiseRounds = 3;
constexpr double kShrink = 10;  // values that the noise of the series counts for beside those of one level

class Search {
 public:
  Search(std::span<const double> values, const ChangePointOptions& options, double floor_sd)
      : values_(values),
        options_(options),
        floor_sd_(floor_sd),
        least_(std::max<size_t>(options.min_segment, 1)),
        sums_(values) {}

  std::vector<ChangePoint> Run() {
    noise_.sd = SdByDifferences(values_, floor_sd_);
    Partition();
    for (int round = 0; round < kNoiseRounds; ++round) {
      noise_ = NoiseByResiduals(values_, starts_, floor_sd_);
      Partition();
    }
    for (int round = 0; round < 2; ++round)
      for (size_t k = 0; k < starts_.size(); ++k) starts_[k] = Place(k).index;
    std::vector<ChangePoint> found = DropWeak();
    return found;
  }

 private:
  // Level k is starts_[k-1] to starts_[k]; change k is between levels k and k+1.
  size_t Begin(size_t level) const { return level == 0 ? 0 : starts_[level - 1]; }
  size_t End(size_t level) const { return level < starts_.size() ? starts_[level] : values_.size(); }
  double Mean(size_t level) const { return sums_.Mean(Begin(level), End(level)); }
  void Drop(size_t change) { starts_.erase(starts_.begin() + static_cast<std::ptrdiff_t>(change)); }

  void Partition() {
    std::vector<double> scaled(values_.begin(), values_.end());
    for (double& value : scaled) value /= noise_.sd;
    const double count = static_cast<double>(values_.size());
    starts_ = OptimalPartition(scaled, options_.penalty * std::log(count) * noise_.LongRunRatio());
    DropShort();
  }

  // Levels that are too short join the neighbour nearer in level, the shortest first.
  void DropShort() {
    std::vector<size_t> kept;
    for (size_t length = 1; length < least_; ++length) {
      kept.clear();
      for (size_t k = 0; k <= starts_.size(); ++k) {
        const size_t before = kept.size() < 2 ? 0 : kept[kept.size() - 2], begin = kept.empty() ? 0 : kept.back(),
                     end = End(k);
        const bool is_short = end - begin <= length, is_last = k == starts_.size();
        const bool joins_left = is_short && !kept.empty() && (is_last || JoinsLeft(before, begin, end, End(k + 1)));
        if (joins_left) kept.pop_back();
        if (!is_last && (joins_left || !is_short)) kept.push_back(end);
      }
      starts_ = kept;
    }
  }
  bool JoinsLeft(size_t before, size_t begin, size_t end, size_t after) const {
    const double own = sums_.Mean(begin, end);
    return std::fabs(sums_.Mean(before, begin) - own) <= std::fabs(sums_.Mean(end, after) - own);
  }

  ChangePlace Place(size_t change) const {
    return FindPlace(values_, sums_, noise_,
                     {Begin(change), starts_[change], End(change + 1), least_, options_.tolerance});
  }

  // Returns the variance of the mean of one level, as if values were independent.
  double MeanVariance(size_t level) const {
    const double count = static_cast<double>(End(level) - Begin(level));
    const double own = sums_.Scatter(Begin(level), End(level));
    return (kShrink * noise_.sd * noise_.sd + own) / (kShrink + count - 1) / count;
  }

  ChangePoint Describe(size_t change) const {
    const ChangePlace place = Place(change);
    ChangePoint point;
    point.index = starts_[change];
    point.first = std::min(place.first, point.index);
    point.last = std::max(place.last, point.index);
    point.place_share = place.share;
    point.before = Mean(change);
    point.after = Mean(change + 1);
    const double variance = noise_.LongRunRatio() * (MeanVariance(change) + MeanVariance(change + 1));
    point.deviations = std::fabs(point.after - point.before) / std::sqrt(variance);
    return point;
  }

  // At least 1 for a change that stays.
  double Strength(const ChangePoint& point) const {
    return std::min(point.deviations / options_.min_deviations, point.place_share / options_.min_place_share);
  }

  std::vector<ChangePoint> DropWeak() {
    std::vector<ChangePoint> points;
    for (size_t k = 0; k < starts_.size(); ++k) points.push_back(Describe(k));
    while (!points.empty()) {
      const auto weakest =
          std::min_element(points.begin(), points.end(),
                           [this](const ChangePoint& a, const ChangePoint& b) { return Strength(a) < Strength(b); });
      if (Strength(*weakest) >= 1) break;
      const size_t gone = static_cast<size_t>(weakest - points.begin());
      Drop(gone);
      points.erase(weakest);
      const size_t from = gone == 0 ? 0 : gone - 1, to = std::min(points.size(), gone + 1);
      for (size_t k = from; k < to; ++k) starts_[k] = Place(k).index;
      for (size_t k = from; k < to; ++k) points[k] = Describe(k);
    }
    return points;
  }

  std::span<const double> values_;
  const ChangePointOptions& options_;
  double floor_sd_;
  size_t least_;
  StretchSums sums_;
  SeriesNoise noise_;
  std::vector<size_t> starts_;
};

}  // namespace

std::vector<ChangePoint> FindChangePoints(std::span<const double> values, const ChangePointOptions& options) {
  std::vector<double> finite;
  std::vector<size_t> at;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) continue;
    finite.push_back(values[i]);
    at.push_back(i);
  }
  if (finite.size() < 2 * std::max<size_t>(options.min_segment, 2)) return {};
  std::vector<double> copy = finite;
  const double centre = MedianInPlace(copy), floor_sd = ResolutionFloor(finite);
  for (double& value : finite) value -= centre;
  const std::vector<double> pulled_in = Winsorise(finite, kMedianWindow, kOutlierLimit, floor_sd);
  std::vector<ChangePoint> found = Search(pulled_in, options, floor_sd).Run();
  for (ChangePoint& point : found) {
    point.index = at[point.index];
    point.first = at[point.first];
    point.last = at[point.last];
    point.before += centre;
    point.after += centre;
    if (point.before != 0) point.relative_change = (point.after - point.before) / std::fabs(point.before);
  }
  std::erase_if(found, [&](const ChangePoint& point) {
    return point.relative_change && std::fabs(*point.relative_change) < options.min_relative;
  });
  return found;
}

}  // namespace gapless::internal
