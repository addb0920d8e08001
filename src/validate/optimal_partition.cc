// SPDX-License-Identifier: Apache-2.0
// For each possible level m of the last stretch, the cheapest partition that ends in it is some "last change at s":
//   cost_s(m) = best[s] + penalty + sum over s..t (value - m)^2,
// a parabola in m. Only candidates that are cheapest for some m can ever win, because all parabolas grow by the same
// (value - m)^2 with each new value. So it is enough to keep, for each interval of m, the candidate that holds it. A
// new candidate "change here" is a constant, best[t] + penalty: it takes over wherever a parabola lies above it, which
// splits a piece into at most three. PELT (Killick et al. 2012) prunes by a bound instead and keeps nearly all
// candidates when a long series has no change at all, which is the usual case here; this pruning does not care.
#include "validate/optimal_partition.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gapless::internal {
namespace {

struct Piece {
  double low, high;  // range of the level
  size_t start;      // start of the cheapest stretch that ends there
};

class Partition {
 public:
  Partition(std::span<const double> values, double penalty)
      : penalty_(penalty),
        sum_(values.size() + 1),
        squares_(values.size() + 1),
        best_(values.size() + 1),
        from_(values.size() + 1) {
    for (size_t i = 0; i < values.size(); ++i) {
      sum_[i + 1] = sum_[i] + values[i];
      squares_[i + 1] = squares_[i] + values[i] * values[i];
    }
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    best_[0] = -penalty;
    pieces_.push_back({*low, *high, 0});
  }

  std::vector<size_t> Solve() {
    const size_t n = best_.size() - 1;
    for (size_t t = 1; t <= n; ++t) {
      Choose(t);
      Replace(t);
    }
    std::vector<size_t> starts;
    for (size_t t = from_[n]; t > 0; t = from_[t]) starts.push_back(t);
    std::reverse(starts.begin(), starts.end());
    return starts;
  }

 private:
  // Least cost over the levels of a piece, its stretch ending before t.
  double Least(const Piece& piece, size_t t) const {
    const double n = static_cast<double>(t - piece.start), sum = sum_[t] - sum_[piece.start];
    const double level = std::clamp(sum / n, piece.low, piece.high);
    return Base(piece, t) + level * (n * level - 2 * sum);
  }
  double Base(const Piece& piece, size_t t) const {
    return best_[piece.start] + penalty_ + squares_[t] - squares_[piece.start];
  }

  void Choose(size_t t) {
    best_[t] = std::numeric_limits<double>::infinity();
    for (const Piece& piece : pieces_) {
      const double cost = Least(piece, t);
      if (cost >= best_[t]) continue;
      best_[t] = cost;
      from_[t] = piece.start;
    }
  }

  void Add(const Piece& piece) {
    if (!next_.empty() && next_.back().start == piece.start)
      next_.back().high = piece.high;
    else if (piece.high > piece.low || next_.empty())
      next_.push_back(piece);
  }

  // "A change at t" takes the levels at which it is cheaper than what holds them.
  void Replace(size_t t) {
    const double limit = best_[t] + penalty_;
    next_.clear();
    for (const Piece& piece : pieces_) {
      const double n = static_cast<double>(t - piece.start), centre = (sum_[t] - sum_[piece.start]) / n;
      const double inside = centre * centre - (Base(piece, t) - limit) / n;
      const double half = inside > 0 ? std::sqrt(inside) : -1;
      const double low = std::max(piece.low, centre - half), high = std::min(piece.high, centre + half);
      if (half < 0 || low > high) {
        Add({piece.low, piece.high, t});
        continue;
      }
      if (low > piece.low) Add({piece.low, low, t});
      Add({low, high, piece.start});
      if (high < piece.high) Add({high, piece.high, t});
    }
    pieces_.swap(next_);
  }

  double penalty_;
  std::vector<double> sum_, squares_, best_;
  std::vector<size_t> from_;
  std::vector<Piece> pieces_, next_;
};

}  // namespace

std::vector<size_t> OptimalPartition(std::span<const double> values, double penalty) {
  if (values.size() < 2) return {};
  return Partition(values, penalty).Solve();
}

}  // namespace gapless::internal
