// SPDX-License-Identifier: Apache-2.0
// What pairs of processes showed, and how it is said.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/benchmark.h"
#include "validate/pair_sequence.h"

namespace gapless::internal {

// Do both sides learn the same? Losses of the same step, first rank.
struct LossParity {
  bool parity = false;
  double max_difference = 0;       // between A and B of a pair, over all steps both have
  std::optional<double> spread{};  // the same between two runs of A; absent with one run
  size_t steps = 0;
};

class Comparison {
 public:
  Comparison(const PairOptions& options, bool higher_is_better)
      : options_(options), higher_is_better_(higher_is_better), sequence_(options) {}

  // Both have a TypicalValue() above zero.
  void Add(RunSample a, RunSample b);
  size_t pairs() const { return a_.size(); }
  PairVerdict verdict() const { return sequence_.Verdict(); }
  // There is a verdict, and an interval with two ends to go with it: that may take one or two pairs more.
  bool IsDecided() const;
  std::string InShort() const;  // "1.05×"

  std::span<const double> log_ratios() const { return sequence_.log_ratios(); }  // of B's time over A's
  RatioInterval TimeRatio() const { return sequence_.Interval(); }
  std::optional<double> DetectableShare() const { return sequence_.DetectableShare(); }
  std::pair<double, double> Typical() const;  // medians of A and of B over the pairs; at least one

  std::string Text() const;
  std::string Json(const std::vector<std::string>& a, const std::vector<std::string>& b, uint64_t seed) const;

 private:
  struct Nominal {
    std::optional<double> signed_rank, welch;
  };
  RatioInterval Speedup() const;  // A's time over B's
  Nominal NominalP() const;
  std::optional<LossParity> Losses() const;
  std::string Headline() const;
  std::string Table() const;

  PairOptions options_;
  bool higher_is_better_;
  PairSequence sequence_;
  std::vector<RunSample> a_{}, b_{};
};

}  // namespace gapless::internal
