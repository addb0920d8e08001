// SPDX-License-Identifier: Apache-2.0
// Runs the rounds of three runs that measure the gradient all-reduce, until the shares are significant or the
// budget ends.
//
// The verdict is about pairs of the whole job with and without the exchange, in each round; the shares come from
// medians over all rounds. A round begins only if one more fits into the budget, judged by the mean of the rounds
// before, and there is always one.
#include "optimize/exchange_cost.h"

#include <array>
#include <cmath>
#include <string>

#include "base/strings.h"
#include "optimize/change.h"
#include "proof/comparison.h"
#include "validate/random.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

// Relative difference of samples per rank and step below which one rank alone has the same work.
constexpr double kSameSamples = 0.05;
constexpr std::array kParts = {ExchangePart::kWhole, ExchangePart::kWithoutExchange, ExchangePart::kAlone};

// The runs of one part, over all rounds.
struct Series {
  std::vector<double> step_ms{};
  std::optional<double> samples{};  // samples of all ranks in a step, in the last run
};

double Middle(const Series& series) { return *Median(series.step_ms); }

// Returns an error if the run cannot be used, or if the exchange was not left out although it should be: then the
// agent's report has the reason.
Result<void> CheckFault(const RunSample& sample, ExchangePart part) {
  if (FaultOf(sample) != Fault::kNone)
    return Fail(ErrorCode::kCommand, StrCat(part == ExchangePart::kAlone ? "one rank alone" : "the command",
                                            " cannot be measured: ", DescribeFault(sample)));
  if (part != ExchangePart::kWithoutExchange) return {};
  std::string reason = "the program uses no DistributedDataParallel";
  for (const FixReport& report : sample.fixes) {
    const auto change = ParseChange(report.text, report.state);
    if (!change || change->fix != "nosync") continue;
    if (change->state == ChangeState::kOn) return {};
    if (!change->what.empty()) reason = change->what;
  }
  return Fail(ErrorCode::kCommand, StrCat("there is no exchange to leave out: ", reason));
}

}  // namespace

std::optional<double> ExchangeCost::Overhead() const {
  if (!same_work) return std::nullopt;
  return (without_ms - alone_ms) / step_ms;
}

std::optional<double> ExchangeCost::Compute() const {
  if (!same_work) return std::nullopt;
  return alone_ms / step_ms;
}

Result<ExchangeCost> MeasureExchange(const ExchangeOptions& options, int ranks,
                                     const std::function<Result<RunSample>(ExchangePart)>& run) {
  ExchangeCost cost;
  PairSequence pairs(options.pairs);
  Random random(options.seed);
  std::array<Series, kParts.size()> series;
  const auto begun = Clock::now();
  const auto budget = std::chrono::duration<double>(options.budget_s);
  while (cost.rounds < options.most_rounds) {
    const auto passed = Clock::now() - begun;
    if (cost.rounds > 0 && passed + passed / static_cast<int64_t>(cost.rounds) > budget) break;
    std::array order = kParts;
    for (size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random.Index(i + 1)]);
    for (const ExchangePart part : order) {
      GAPLESS_ASSIGN(const auto sample, run(part));
      GAPLESS_TRY(CheckFault(sample, part));
      Series& arm = series[static_cast<size_t>(part)];
      arm.step_ms.push_back(MeanStepMs(sample));
      if (sample.samples_per_second) arm.samples = *sample.samples_per_second * arm.step_ms.back() / 1e3;
    }
    ++cost.rounds;
    pairs.Add(std::log(series[1].step_ms.back() / series[0].step_ms.back()));
    if (EndingOf(pairs, options.most_rounds)) break;
  }
  cost.step_ms = Middle(series[0]);
  cost.without_ms = Middle(series[1]);
  cost.alone_ms = Middle(series[2]);
  cost.speedup = SpeedupOf(pairs.Interval());
  cost.verdict = pairs.Verdict();
  if (series[0].samples) cost.samples_per_second = *series[0].samples / cost.step_ms * 1e3;
  if (series[0].samples && series[2].samples)
    cost.same_work = std::abs(*series[0].samples / (*series[2].samples * ranks) - 1) < kSameSamples;
  return cost;
}

}  // namespace gapless::internal
