// SPDX-License-Identifier: Apache-2.0
// Finds the step from which on a series is steady.
//
// MSER-5 answers how many steps to drop, but it always answers: it finds a beginning in a series that never settles.
// Change points (Barrett et al. 2017) distinguish the classes. So: optimal partitioning into levels (Killick, Fearnhead
// and Eckley 2012), with a penalty that knows the noise and its dependence; the levels at the end that are one level
// make the steady part; in a warm-up MSER-5 may move its begin further, past the tail of a gradual one.
//
// The noise must be known before the levels are. Differences of neighbours hardly see levels, and limited to three
// standard deviations they hardly see outliers: those at lag 1 have the variance 2 s^2 (1 - phi) and those at lag 2
// have 2 s^2 (1 - phi^2), which gives s and phi of an AR(1). Spikes are clipped against the median of their
// neighbourhood. The first steps of a job are such spikes (compilation, allocation), so leading steps far above the
// steady level are left out at the end.
//
// Long series are taken in batches by their medians, so that the partition has at most 2,000 points.
#include "validate/steady.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/series_trend.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

constexpr size_t kMaxBatches = 2000;
constexpr size_t kMinSegment = 5;
constexpr size_t kNeighbours = 5;  // to either side
constexpr double kClip = 4;        // standard deviations
constexpr double kPenalty = 4;     // times log n times the long-run variance
constexpr double kSteadyShare = 0.25;
constexpr double kHighestStepPhi = 0.75;  // more would take a shift of level for dependence

struct NoiseLevel {
  double sd = 0;
  double long_run_variance = 0;
};

// The variance of differences, those beyond three standard deviations (by their median) counted as three.
double VarianceOfDifferences(std::span<const double> x, size_t lag) {
  std::vector<double> sizes;
  for (size_t i = lag; i < x.size(); ++i) sizes.push_back(std::abs(x[i] - x[i - lag]));
  const double limit = 3 * kMadToSd * Median(sizes).value_or(0);
  double squares = 0;
  for (const double size : sizes) squares += std::pow(std::min(size, limit), 2);
  return sizes.empty() ? 0 : squares / static_cast<double>(sizes.size());
}

NoiseLevel NoiseOf(std::span<const double> x) {
  const double floor =
      1e-4 * std::abs(*Median(x));  // what clocks resolve; of a constant series there is no other noise
  const double first = VarianceOfDifferences(x, 1), second = VarianceOfDifferences(x, 2);
  const double phi = first > 0 ? std::clamp(second / first - 1, 0.0, kHighestStepPhi) : 0;
  const double sd = std::max(floor, std::sqrt(first / (2 * (1 - phi))));
  return {sd, sd * sd * (1 + phi) / (1 - phi)};
}

std::vector<double> Clipped(std::span<const double> x, double sd) {
  std::vector<double> out;
  out.reserve(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t begin = i < kNeighbours ? 0 : i - kNeighbours;
    const size_t end = std::min(x.size(), i + kNeighbours + 1);
    const double middle = *Median(x.subspan(begin, end - begin));
    out.push_back(std::clamp(x[i], middle - kClip * sd, middle + kClip * sd));
  }
  return out;
}

std::vector<double> BatchMedians(std::span<const double> x, size_t size) {
  std::vector<double> out;
  for (size_t begin = 0; begin < x.size(); begin += size) {
    out.push_back(*Median(x.subspan(begin, std::min(size, x.size() - begin))));
  }
  return out;
}

// The begins of the segments that minimise the squared error plus `penalty` for each.
std::vector<size_t> SegmentBegins(std::span<const double> x, double penalty) {
  const size_t n = x.size();
  const double offset = *Median(x);
  std::vector<double> sum(n + 1), squares(n + 1), best(n + 1, std::numeric_limits<double>::infinity());
  for (size_t i = 0; i < n; ++i) {
    sum[i + 1] = sum[i] + (x[i] - offset);
    squares[i + 1] = squares[i] + (x[i] - offset) * (x[i] - offset);
  }
  std::vector<size_t> from(n + 1), candidates{0};
  best[0] = -penalty;
  for (size_t end = kMinSegment; end <= n; ++end) {
    std::vector<size_t> kept;
    const auto cost = [&](size_t begin) {
      const double total = sum[end] - sum[begin];
      return best[begin] + squares[end] - squares[begin] - total * total / static_cast<double>(end - begin);
    };
    for (const size_t begin : candidates) {
      if (cost(begin) + penalty < best[end]) best[end] = cost(begin) + penalty, from[end] = begin;
    }
    for (const size_t begin : candidates) {
      if (cost(begin) <= best[end] + penalty) kept.push_back(begin);
    }
    const size_t next = end + 1 - kMinSegment;  // may begin a segment that ends at end + 1
    if (next >= kMinSegment) kept.push_back(next);
    candidates = std::move(kept);
  }
  std::vector<size_t> begins;
  for (size_t end = n; end > 0; end = from[end]) begins.push_back(from[end]);
  std::reverse(begins.begin(), begins.end());
  return begins;
}

std::vector<LevelSegment> Segments(std::span<const double> steps) {
  const size_t batch = (steps.size() + kMaxBatches - 1) / kMaxBatches;
  const auto points = batch > 1 ? BatchMedians(steps, batch) : std::vector<double>(steps.begin(), steps.end());
  const NoiseLevel noise = NoiseOf(points);
  const auto clipped = Clipped(points, noise.sd);
  const double penalty = kPenalty * std::log(static_cast<double>(points.size())) * noise.long_run_variance;
  std::vector<LevelSegment> out;
  for (const size_t begin : SegmentBegins(clipped, penalty)) {
    if (!out.empty()) out.back().end = begin * batch;
    out.push_back({begin * batch, steps.size(), 0});
  }
  for (LevelSegment& s : out) s.level = *Median(steps.subspan(s.begin, s.end - s.begin));
  return out;
}

}  // namespace

std::string_view SteadyOutcomeName(SteadyOutcome outcome) {
  switch (outcome) {
    case SteadyOutcome::kTooShort: return "too short";
    case SteadyOutcome::kFlat: return "flat";
    case SteadyOutcome::kWarmup: return "warm-up";
    case SteadyOutcome::kSlowdown: return "slowdown";
    case SteadyOutcome::kNone: return "no steady state";
  }
  return "";
}

std::optional<double> GrowthOf(std::span<const double> steps) {
  constexpr double kLeast = 1.25;
  std::vector<SeriesPoint> points;
  for (const double step : steps) points.push_back({static_cast<double>(points.size()), step});
  const SeriesTrend trend = TrendOf(points);
  if (!GrowsSteadily(trend) || trend.quarters.front() <= 0) return std::nullopt;
  const double growth = trend.quarters.back() / trend.quarters.front();
  return growth >= kLeast ? std::optional(growth) : std::nullopt;
}

size_t Mser5(std::span<const double> steps) {
  constexpr size_t kBatch = 5;
  const size_t batches = steps.size() / kBatch;
  if (batches < 2) return 0;
  const double offset = steps.back();
  double sum = 0, squares = 0, least = std::numeric_limits<double>::infinity();
  size_t best = 0;
  for (size_t left = 1; left <= batches; ++left) {  // from the end, so that sums grow
    const size_t first = batches - left;
    double value = 0;
    for (size_t i = 0; i < kBatch; ++i) value += (steps[first * kBatch + i] - offset) / kBatch;
    sum += value;
    squares += value * value;
    const auto count = static_cast<double>(left);
    const double statistic = (squares - sum * sum / count) / (count * count);
    if (2 * first <= batches && statistic <= least) least = statistic, best = first;
  }
  return best * kBatch;
}

Result<SteadyState> FindSteadyState(std::span<const double> steps, const SteadyOptions& options) {
  GAPLESS_TRY(CheckFinite(steps));
  SteadyState out;
  if (steps.size() < kMinSteps) return out;
  out.segments = Segments(steps);
  const NoiseLevel noise = NoiseOf(steps);
  const LevelSegment& last = out.segments.back();
  const auto same = [&](const LevelSegment& s) {
    const double counts = 1.0 / static_cast<double>(s.end - s.begin) + 1.0 / static_cast<double>(last.end - last.begin);
    const double explained = 3 * std::sqrt(noise.long_run_variance * counts);
    return std::abs(s.level - last.level) <= std::max(options.tolerance * std::abs(last.level), explained);
  };
  size_t first = out.segments.size() - 1;
  while (first > 0 && same(out.segments[first - 1])) --first;
  size_t start = out.segments[first].begin;
  if (static_cast<double>(steps.size() - start) < kSteadyShare * static_cast<double>(steps.size())) {
    out.outcome = SteadyOutcome::kNone;
    return out;
  }
  const bool faster_before =
      std::any_of(out.segments.begin(), out.segments.begin() + static_cast<std::ptrdiff_t>(first),
                  [&](const LevelSegment& s) { return s.level < last.level && !same(s); });
  out.outcome = first == 0 ? SteadyOutcome::kFlat : faster_before ? SteadyOutcome::kSlowdown : SteadyOutcome::kWarmup;
  if (out.outcome == SteadyOutcome::kWarmup) start = std::max(start, Mser5(Clipped(steps, noise.sd)));
  const double level = *Median(steps.subspan(start));
  const double far = level + std::max(options.tolerance * std::abs(level), 2 * kClip * noise.sd);
  const size_t begin = start;
  while (start + kMinSegment < steps.size() && steps[start] > far) ++start;
  if (start > begin && out.outcome == SteadyOutcome::kFlat) out.outcome = SteadyOutcome::kWarmup;
  out.start = start;
  out.level = Median(steps.subspan(start));
  return out;
}

}  // namespace gapless::internal
