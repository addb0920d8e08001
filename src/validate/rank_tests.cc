// SPDX-License-Identifier: Apache-2.0
// Implements the Wilcoxon signed-rank and the Mann-Whitney test with Hodges-Lehmann intervals. Small samples without
// ties use the exact distribution, others the normal approximation.
#include "validate/rank_tests.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "validate/distributions.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

constexpr size_t kExactPairs = 50, kExactSmaller = 8, kExactLarger = 1000;
constexpr double kMaxPairs = 20e6;

bool IsSmallEnough(size_t nx, size_t ny) {
  return std::min(nx, ny) <= kExactSmaller && std::max(nx, ny) <= kExactLarger;
}

// P(W = w) for the sum of the positive ranks of n values: each rank is in with probability one half.
std::vector<double> SignedRankDistribution(size_t n) {
  std::vector<double> p(n * (n + 1) / 2 + 1);
  p[0] = 1;
  for (size_t rank = 1, top = 0; rank <= n; ++rank) {
    top += rank;
    for (size_t w = top + 1; w-- > 0;) p[w] = (p[w] + (w >= rank ? p[w - rank] : 0)) / 2;
  }
  return p;
}

// P(U = u), by the recursion on which sample the greatest value belongs to (Mann and Whitney 1947, equation 1), in
// probabilities.
std::vector<double> MannWhitneyDistribution(size_t smaller, size_t larger) {
  std::vector<std::vector<double>> p(smaller + 1);
  for (size_t m = 0; m <= smaller; ++m) p[m].assign(m * larger + 1, 0), p[m][0] = 1;
  for (size_t n = 1; n <= larger; ++n) {
    for (size_t m = 1; m <= smaller; ++m) {
      const double share = static_cast<double>(m) / static_cast<double>(m + n);
      for (size_t u = m * n + 1; u-- > 0;) {
        const double above = u >= n && u - n <= (m - 1) * n ? p[m - 1][u - n] : 0;
        p[m][u] = share * above + (1 - share) * (u <= m * (n - 1) ? p[m][u] : 0);
      }
    }
  }
  return p[smaller];
}

// P(value >= at), of a distribution on 0, 1, ….
double UpperTail(const std::vector<double>& p, size_t at) {
  double sum = 0;
  for (size_t i = p.size(); i-- > at;) sum += p[i];
  return sum;
}

// The greatest k with P(value < k) <= tail: the interval starts at the k-th of the sorted pairs. 0 when none fits.
size_t LowerRank(const std::vector<double>& p, double tail) {
  double sum = 0;
  for (size_t k = 0; k < p.size(); ++k) {
    sum += p[k];
    if (sum > tail) return k;
  }
  return p.size();
}

struct Ranks {
  std::vector<double> rank;  // rank of each value, ties sharing the middle
  double tie_sum = 0;        // sum of t^3 - t
};

Ranks RanksOf(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  Ranks out;
  out.rank.resize(values.size());
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (size_t i = begin; i < end; ++i) out.rank[order[i]] = static_cast<double>(begin + end + 1) / 2;
    const auto t = static_cast<double>(end - begin);
    out.tie_sum += t * t * t - t;
  }
  return out;
}

// The median of `pairs` and its order statistics of rank `below` (counted from 1) from either end; none for 0.
Shift ShiftOf(std::vector<double>& pairs, size_t below) {
  std::sort(pairs.begin(), pairs.end());
  Shift shift{.estimate = QuantileOfSorted(pairs, 0.5), .low = {}, .high = {}};
  if (below >= 1 && 2 * below <= pairs.size() + 1) {
    shift.low = pairs[below - 1];
    shift.high = pairs[pairs.size() - below];
  }
  return shift;
}

size_t NormalLowerRank(double mean, double sd, double tail) {
  const double rank = mean + NormalQuantile(tail) * sd;
  return rank < 1 ? 0 : static_cast<size_t>(rank);
}

Result<void> CheckShift(double pairs, double level) {
  if (!(level > 0 && level < 1)) return Fail(ErrorCode::kUsage, "the level of an interval must be between 0 and 1");
  if (pairs < 1) return Fail(ErrorCode::kInput, "a shift needs values");
  if (pairs > kMaxPairs) return Fail(ErrorCode::kInput, "too many values for a shift: more than twenty million pairs");
  return {};
}

}  // namespace

Result<RankTest> MannWhitney(std::span<const double> x, std::span<const double> y) {
  GAPLESS_TRY(CheckFinite(x));
  GAPLESS_TRY(CheckFinite(y));
  if (x.empty() || y.empty()) return Fail(ErrorCode::kInput, "a Mann-Whitney test needs values on both sides");
  std::vector<double> all(x.begin(), x.end());
  all.insert(all.end(), y.begin(), y.end());
  const Ranks ranks = RanksOf(all);
  const auto nx = static_cast<double>(x.size()), ny = static_cast<double>(y.size()), n = nx + ny;
  double rank_sum = 0;
  for (size_t i = 0; i < x.size(); ++i) rank_sum += ranks.rank[i];
  RankTest test{.statistic = rank_sum - nx * (nx + 1) / 2};
  const double greater = std::max(test.statistic, nx * ny - test.statistic);
  if (ranks.tie_sum == 0 && IsSmallEnough(x.size(), y.size())) {
    test.exact = true;
    const auto p = MannWhitneyDistribution(std::min(x.size(), y.size()), std::max(x.size(), y.size()));
    test.p = std::min(1.0, 2 * UpperTail(p, static_cast<size_t>(greater)));
    return test;
  }
  const double variance = nx * ny / 12 * (n + 1 - ranks.tie_sum / (n * (n - 1)));
  if (!(variance > 0)) return test;  // all values are equal: p is 1
  test.p = std::min(1.0, 2 * NormalUpperTail((greater - nx * ny / 2 - 0.5) / std::sqrt(variance)));
  return test;
}

Result<RankTest> SignedRank(std::span<const double> differences) {
  GAPLESS_TRY(CheckFinite(differences));
  std::vector<double> sizes;
  std::vector<bool> positive;
  for (const double d : differences) {
    if (d == 0) continue;
    sizes.push_back(std::abs(d));
    positive.push_back(d > 0);
  }
  if (sizes.empty()) return Fail(ErrorCode::kInput, "a signed-rank test needs a difference other than zero");
  const Ranks ranks = RanksOf(sizes);
  const auto n = static_cast<double>(sizes.size());
  double plus = 0;
  for (size_t i = 0; i < sizes.size(); ++i) plus += positive[i] ? ranks.rank[i] : 0;
  const double total = n * (n + 1) / 2;
  RankTest test{.statistic = std::min(plus, total - plus)};
  if (ranks.tie_sum == 0 && sizes.size() == differences.size() && sizes.size() <= kExactPairs) {
    test.exact = true;
    const auto greater = static_cast<size_t>(total - test.statistic);
    test.p = std::min(1.0, 2 * UpperTail(SignedRankDistribution(sizes.size()), greater));
    return test;
  }
  const double variance = n * (n + 1) * (2 * n + 1) / 24 - ranks.tie_sum / 48;
  test.p = std::min(1.0, 2 * NormalUpperTail((total / 2 - test.statistic) / std::sqrt(variance)));
  return test;
}

Result<Shift> HodgesLehmann(std::span<const double> differences, double level) {
  GAPLESS_TRY(CheckFinite(differences));
  const auto n = static_cast<double>(differences.size());
  const double total = n * (n + 1) / 2;
  GAPLESS_TRY(CheckShift(total, level));
  std::vector<double> means;
  means.reserve(static_cast<size_t>(total));
  for (size_t i = 0; i < differences.size(); ++i) {
    for (size_t j = i; j < differences.size(); ++j) means.push_back(differences[i] / 2 + differences[j] / 2);
  }
  const double tail = (1 - level) / 2;
  const size_t below = differences.size() <= kExactPairs
                           ? LowerRank(SignedRankDistribution(differences.size()), tail)
                           : NormalLowerRank(total / 2, std::sqrt(total * (2 * n + 1) / 12), tail);
  return ShiftOf(means, below);
}

Result<Shift> HodgesLehmann(std::span<const double> x, std::span<const double> y, double level) {
  GAPLESS_TRY(CheckFinite(x));
  GAPLESS_TRY(CheckFinite(y));
  const auto nx = static_cast<double>(x.size()), ny = static_cast<double>(y.size());
  GAPLESS_TRY(CheckShift(nx * ny, level));
  std::vector<double> differences;
  differences.reserve(x.size() * y.size());
  for (const double a : x) {
    for (const double b : y) differences.push_back(a - b);
  }
  const double tail = (1 - level) / 2;
  const size_t below =
      IsSmallEnough(x.size(), y.size())
          ? LowerRank(MannWhitneyDistribution(std::min(x.size(), y.size()), std::max(x.size(), y.size())), tail)
          : NormalLowerRank(nx * ny / 2, std::sqrt(nx * ny * (nx + ny + 1) / 12), tail);
  return ShiftOf(differences, below);
}

Result<Shift> StudentShift(std::span<const double> differences, double level) {
  GAPLESS_TRY(CheckFinite(differences));
  GAPLESS_TRY(CheckShift(static_cast<double>(differences.size()), level));
  if (differences.size() < 2) return Fail(ErrorCode::kInput, "Student's interval needs two values");
  const auto n = static_cast<double>(differences.size());
  const double mean = *Mean(differences);
  const double half = StudentQuantile((1 + level) / 2, n - 1) * *StandardDeviation(differences) / std::sqrt(n);
  return Shift{.estimate = mean, .low = mean - half, .high = mean + half};
}

}  // namespace gapless::internal
