// SPDX-License-Identifier: Apache-2.0
// Implements Comparison: each pair adds the log ratio of the mean step times (per sample if known), and the losses
// of the same steps.
//
// Logarithms make "1.1 times slower" and "1.1 times faster" symmetric, so that the order of A and B does not
// matter, and the mean over pairs is that of factors. The sequence's interval holds after every pair, whenever one
// stops (validate/pair_sequence.h); the nominal p values do not.
#include "proof/comparison.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "base/strings.h"
#include "proof/measure.h"
#include "proof/metrics.h"
#include "proof/pair_loop.h"
#include "validate/hypothesis.h"
#include "validate/rank_tests.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

constexpr size_t kLeastPairs = 6;    // that a budget is spent on before busy pairs are run again
constexpr double kMaxBudgetS = 1e9;  // a longer one never ends, and its end does not fit the clock

// Returns the largest difference of losses of the same step, and over how many steps. A loss that is NaN on one
// side only makes it infinite.
std::pair<double, size_t> Differ(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  size_t steps = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (std::isnan(a[i]) != std::isnan(b[i])) most = std::numeric_limits<double>::infinity();
    if (std::isnan(a[i]) || std::isnan(b[i])) continue;
    most = std::max(most, std::abs(a[i] - b[i]));
    ++steps;
  }
  return {most, steps};
}

// Both sides must have measured the same thing.
Result<void> CheckSame(const RunSample& a, const RunSample& b) {
  if (a.source == b.source) return {};
  return Fail(ErrorCode::kCommand, StrCat("A was measured by ", NameOf(a.source), ", B by ", NameOf(b.source)), "",
              "--whole compares the time of whole processes");
}

// Returns the mean step of each sample, in ms.
std::vector<double> MeanSteps(const std::vector<RunSample>& samples) {
  std::vector<double> values;
  for (const RunSample& sample : samples) values.push_back(MeanStepMs(sample));
  return values;
}

// Runs one side; absent if it would go on after the deadline, at which it is ended.
Result<std::optional<RunSample>> RunUntil(PairLoop::Clock::time_point deadline, RunRequest request) {
  const double left_s = std::chrono::duration<double>(deadline - PairLoop::Clock::now()).count();
  if (left_s <= 0) return std::optional<RunSample>();
  const bool cuts = request.timeout_s <= 0 || left_s < request.timeout_s;
  if (cuts) request.timeout_s = left_s;
  GAPLESS_ASSIGN(auto sample, RunOnce(request));
  if (cuts && sample.timed_out) return std::optional<RunSample>();
  GAPLESS_ASSIGN(auto checked, Checked(std::move(sample), request));
  return std::optional(std::move(checked));
}

}  // namespace

RatioInterval SpeedupOf(const RatioInterval& time_ratio) {
  RatioInterval speedup;
  speedup.expected = 1 / time_ratio.expected;
  if (time_ratio.high) speedup.low = 1 / *time_ratio.high;
  if (time_ratio.low) speedup.high = 1 / *time_ratio.low;
  return speedup;
}

// A metric of which more is better enters with its sign turned, so that a value below 0 always means that B is
// better.
void Comparison::Add(RunSample a, RunSample b) {
  const double ratio = std::log(RatioOfTimes(a, b));
  sequence_.Add(higher_is_better_ ? -ratio : ratio);
  a_.push_back(std::move(a));
  b_.push_back(std::move(b));
}

bool Comparison::IsDecided() const {
  if (Verdict() == SpeedVerdict::kCannotTell) return false;
  const RatioInterval interval = sequence_.Interval();
  return interval.low && interval.high;
}

std::pair<double, double> Comparison::Typical() const { return {*Median(MeanSteps(a_)), *Median(MeanSteps(b_))}; }

NominalP Comparison::Nominal() const {
  NominalP nominal;
  if (const auto test = SignedRank(sequence_.log_ratios())) nominal.signed_rank = test->p;
  std::vector<double> a = MeanSteps(a_), b = MeanSteps(b_);
  for (std::vector<double>* side : {&a, &b})
    for (double& value : *side) value = std::log(value);
  if (const auto test = WelchTest(b, a)) nominal.welch = test->p;
  return nominal;
}

std::optional<LossDifference> Comparison::Losses() const {
  LossDifference found;
  found.steps = SIZE_MAX;
  for (size_t i = 0; i < a_.size(); ++i) {
    const auto [most, steps] = Differ(a_[i].losses, b_[i].losses);
    found.max_difference = std::max(found.max_difference, most);
    found.steps = std::min(found.steps, steps);
    if (i > 0) found.spread = std::max(found.spread.value_or(0), Differ(a_[i].losses, a_[i - 1].losses).first);
  }
  if (a_.empty() || found.steps == 0) return std::nullopt;
  return found;
}

Result<void> RunPairs(const PairPlan& plan, Comparison& comparison, const std::function<bool()>& go_on) {
  PairLoop loop{.done = comparison.pairs(), .max_pairs = plan.most_pairs, .seed = plan.seed};
  if (plan.budget_s && *plan.budget_s < kMaxBudgetS)
    loop.deadline = PairLoop::Clock::now() + std::chrono::duration_cast<PairLoop::Clock::duration>(
                                                 std::chrono::duration<double>(*plan.budget_s));
  const bool is_limited = plan.ends_with_budget && loop.deadline != PairLoop::Clock::time_point::max();
  if (is_limited) loop.pair_takes = PairLoop::Clock::duration::zero();  // then their mean
  if (is_limited) loop.min_pairs = kLeastPairs;
  loop.run = [&](bool is_b) -> Result<std::optional<RunSample>> {
    if (plan.on_run) plan.on_run(comparison.pairs());
    const RunRequest& request = is_b ? plan.b : plan.a;
    if (is_limited) return RunUntil(loop.deadline, request);
    GAPLESS_ASSIGN(auto sample, RunMeasured(request));
    if (!is_b && !request.metric.empty()) GAPLESS_TRY(CheckPrinted(sample));
    return std::optional(std::move(sample));
  };
  loop.is_disturbed = IsDisturbed;
  loop.on_repeat = [&] { comparison.CountRepeated(); };
  loop.add = [&](RunSample a, RunSample b) -> Result<bool> {
    GAPLESS_TRY(CheckSame(a, b));
    comparison.Add(std::move(a), std::move(b));
    return go_on();
  };
  GAPLESS_ASSIGN(const auto end, RunPairLoop(loop));
  if (end != PairLoopEnd::kEnough) comparison.End();
  return {};
}

}  // namespace gapless::internal
