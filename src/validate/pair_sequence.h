// SPDX-License-Identifier: Apache-2.0
// Is B faster than A? Decided from pairs of fresh processes, and allowed to look after every pair.
//
// The unit is one process, summarised by one number; a pair is one process of each, in an order drawn by a fair coin;
// what counts is d = log(B / A) of the pair. If B is as fast as A, exchanging the two names changes nothing, so the
// sign of d is a fair coin given its size, whatever the noise: skewed, drifting, with outliers. For every weight w that
// depends on the sizes only, the product of exp(λ sign(d) w) / cosh(λ w) over the pairs is then a martingale of mean
// one (de la Peña, "A general class of exponential inequalities for martingales and ratios", 1999, section 6), and it
// ever exceeds 1/α with a probability of at most α (Ville 1939). Here w is the size of d over a robust scale of the
// sizes so far, cut off at kMaxWeight, so that outliers vote but do not rule (Huber 1964), and λ is mixed over a grid
// on both sides (Robbins 1970).
//
// The confidence sequence is every shift θ that was never rejected when d − θ is tested in the same way (Howard,
// Ramdas, McAuliffe and Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences", 2021). It holds at
// every look at once, if a change moves all of B's times by one factor. Nothing here is asymptotic; there is no
// smallest number of pairs but what arithmetic demands: about ten. A comparison that ends before, because its time or
// its pairs are over, looks once more, at all pairs by signed ranks (Wilcoxon 1945) at half the error: End(). The
// sequence errs far less often than it may, so that both together stay below α (simulated in pair_sequence_test.cc).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "gapless/speedup.h"

namespace gapless::internal {

// Evidence against "d is symmetric about θ", as the logarithm of a quantity that is ever ≥ 1/α with probability ≤ α.
class SymmetryEvidence {
 public:
  explicit SymmetryEvidence(double theta = 0) : theta_(theta) {}
  void Add(double d);
  double highest_log() const { return highest_; }  // over all looks so far; 0 before the first
  // Returns the side of the values as seen from θ: below 0, above 0.
  double side() const { return sum_; }

 private:
  static constexpr size_t kRates = 8;
  double theta_;
  std::vector<double> sizes_{};  // sorted
  double sum_ = 0;
  std::array<double, kRates> log_cosh_{};
  double highest_ = 0;
};

struct PairOptions {
  double alpha = 0.05;
  double margin = 0.01;  // equivalent: between 1 − margin and 1 / (1 − margin); 0: never
};

// The fewest pairs that the last look can decide at this error: signed ranks of fewer have no p value as small.
size_t FewestPairsToDecide(double alpha);

class PairSequence {
 public:
  explicit PairSequence(const PairOptions& options = {});
  // `log_ratio`: log(B / A) of what takes time; finite. The order of the two processes was drawn by a fair coin.
  void Add(double log_ratio);
  size_t size() const { return log_ratios_.size(); }
  std::span<const double> log_ratios() const { return log_ratios_; }

  // No pair will come, for a reason that has nothing to do with what the pairs say. Not after an interruption.
  void End() { is_over_ = true; }
  bool is_over() const { return is_over_; }

  // May be asked after every pair; what is not kCannotTell may be acted upon.
  SpeedVerdict Verdict() const;
  // Returns true if the last look decides, and not the sequence.
  bool IsDecidedAtTheEnd() const;
  // Returns the p value of "no effect"; valid whenever one stops. Decided by the last look: twice that of signed ranks.
  double AnytimeP() const;
  // B's time over A's.
  RatioInterval Interval() const;
  // The share of time by which B must differ so that a comparison of as many pairs with this noise decides in 80 % of
  // cases by its end (End(); simulated in pair_sequence_test.cc). Absent where so few pairs decide nothing, whatever
  // they say: below seven.
  std::optional<double> DetectableShare() const { return DetectableShare(size()); }
  // The same for a comparison of `pairs` pairs with the noise of these.
  std::optional<double> DetectableShare(size_t pairs) const;

 private:
  PairOptions options_;
  SpeedVerdict VerdictOfSequence() const;

  bool is_over_ = false;
  std::vector<double> log_ratios_;
  SymmetryEvidence none_, longer_, shorter_;  // at no effect and at both margins
};

}  // namespace gapless::internal
