// SPDX-License-Identifier: Apache-2.0
// Compares two commands, A and B: both run in pairs of fresh processes, in random order. The evidence is available
// after every pair.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proof/kept_metric.h"
#include "trial/run_once.h"
#include "validate/pair_sequence.h"
#include "validate/parity.h"

namespace gapless::internal {

// The difference of losses of the same step, first rank. It does not decide whether both sides are the same training;
// see validate/parity.h.
struct LossDifference {
  double max_difference = 0;       // between A and B of a pair, over all steps both have
  std::optional<double> spread{};  // the same between two runs of A; absent with one run
  size_t steps = 0;
};

// A NominalP has p values of tests whose number of pairs would have had to be fixed beforehand. They are for
// comparison with other tools, not for decisions. Absent: too few pairs.
struct NominalP {
  std::optional<double> signed_rank, welch;
};

// Returns A's time over B's, from an interval of B's time over A's. An end that is not bounded stays so.
RatioInterval SpeedupOf(const RatioInterval& time_ratio);

// A Comparison holds the pairs that were run and what they show so far. For one thread.
class Comparison {
 public:
  explicit Comparison(const PairOptions& options, bool higher_is_better = false)
      : options_(options), higher_is_better_(higher_is_better), sequence_(options) {}

  // Both have a MeanStepMs() above zero.
  void Add(RunSample a, RunSample b);

  const PairOptions& options() const { return options_; }
  const PairSequence& sequence() const { return sequence_; }
  const std::vector<RunSample>& a() const { return a_; }
  const std::vector<RunSample>& b() const { return b_; }
  size_t pairs() const { return a_.size(); }
  size_t repeated() const { return repeated_; }  // pairs that were run again because the machine was busy
  void CountRepeated() { ++repeated_; }
  // Its time or its pairs are over (PairSequence::End()).
  void End() { sequence_.End(); }

  SpeedVerdict Verdict() const { return sequence_.Verdict(); }
  // There is a verdict, and an interval with two ends to go with it: that may take one or two pairs more.
  bool IsDecided() const;
  RatioInterval Speedup() const { return SpeedupOf(sequence_.Interval()); }
  bool IsSignificant() const { return sequence_.AnytimeP() <= options_.alpha; }
  NominalP Nominal() const;
  std::pair<double, double> Typical() const;  // mean steps of A and of B, medians over the pairs; at least one
  // Absent where no step has a loss on both sides.
  std::optional<LossDifference> Losses() const;
  // The number of --metric in B beside A. Absent: none was asked for, or none printed.
  std::optional<MetricChange> Metric() const { return ChangeOfMetric(PrintedByBoth(), false); }
  // Returns why it is another result, in words; empty if it is the same.
  std::string MetricObjection() const { return internal::MetricObjection(PrintedByBoth(), Metric()); }
  // Returns the decision whether B is the same training as A; absent if they were not compared (same_training.h).
  const std::optional<ParityReport>& training() const { return training_; }
  void SetTraining(ParityReport report) { training_ = std::move(report); }
  // A signal ended the runs: this is what was known until then.
  bool is_interrupted() const { return is_interrupted_; }
  void SetInterrupted() { is_interrupted_ = true; }

 private:
  MetricRuns PrintedByBoth() const { return {.without = a_, .with = b_, .beside = a_}; }

  PairOptions options_;
  bool higher_is_better_;
  PairSequence sequence_;
  std::vector<RunSample> a_{}, b_{};
  size_t repeated_ = 0;
  std::optional<ParityReport> training_{};
  bool is_interrupted_ = false;
};

struct PairPlan {
  RunRequest a{}, b{};
  size_t most_pairs = 30;
  std::optional<double> budget_s{};           // no pair begins after so long
  bool ends_with_budget = false;              // no pair begins that would end later, and a run that goes on is ended
  uint64_t seed = 0;                          // seed of the random order within a pair
  std::function<void(size_t done)> on_run{};  // called before each run, with the number of pairs that are done
  std::function<void(std::string_view what)> on_same{};  // before each run that compares the trainings, with its name
  std::string metric_name{};  // of the number that RunRequest::metric of both finds; empty: none
};

// Adds pairs until there are enough, or `go_on`, which is asked after each of them, says no. Returns an error when
// a run fails, or when the two were not measured by the same means; pairs until then stay in the comparison.
Result<void> RunPairs(const PairPlan& plan, Comparison& comparison, const std::function<bool()>& go_on);

}  // namespace gapless::internal
