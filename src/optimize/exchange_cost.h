// SPDX-License-Identifier: Apache-2.0
// What exchanging gradients costs a data-parallel training, measured and not estimated. Three runs a round, in an order
// drawn by lot: all ranks as they are; all ranks without the exchange (nosync=0: each trains for itself); one rank
// alone.
//
//   communication  what a step takes longer than without the exchange: the part that is not hidden
//   overhead       what a step without the exchange takes longer than one rank alone: ranks share memory, caches, links
//   compute        the rest, which is one rank's step
//
// The three add up to the step. A rank alone must have as many samples a step; where it has not, compute and overhead
// cannot be told apart.
#pragma once

#include <functional>
#include <optional>

#include "optimize/contest.h"

namespace gapless::internal {

enum class ExchangePart { kWhole, kWithoutExchange, kAlone };

struct ExchangeOptions {
  PairOptions pairs{};
  size_t most_rounds = 12;
  double budget_s = 600;
  uint64_t seed = 0;
};

struct ExchangeCost {
  size_t rounds = 0;
  double step_ms = 0, without_ms = 0, alone_ms = 0;  // medians over the rounds
  RatioInterval speedup{};                           // of a step without the exchange, over one with it
  SpeedVerdict verdict = SpeedVerdict::kCannotTell;  // is it faster without
  double samples_per_second = 0;                     // of all ranks; 0: unknown
  bool same_work = true;                             // a rank alone has as many samples a step

  // Of a step; they add up to 1. What cannot be told apart is absent. Below 0: within the noise.
  double Communication() const { return 1 - without_ms / step_ms; }
  std::optional<double> Overhead() const;
  std::optional<double> Compute() const;
};

// An error: a run fails, there is no exchange to leave out, or the user ends it. `ranks`: of the whole job.
Result<ExchangeCost> MeasureExchange(const ExchangeOptions& options, int ranks,
                                     const std::function<Result<RunSample>(ExchangePart)>& run);

}  // namespace gapless::internal
