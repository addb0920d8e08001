// SPDX-License-Identifier: Apache-2.0
// Measures the cost of the gradient all-reduce in data-parallel training. Each round has three runs in random order:
// all ranks unchanged; all ranks without the all-reduce (nosync=0: each rank trains alone); one rank.
//
//   communication  step time beyond a step without the all-reduce: the exposed part
//   overhead       step time without the all-reduce beyond that of one rank: ranks share memory, caches, links
//   compute        the rest, which is the step of one rank
//
// The three add up to the step. One rank must have as many samples a step; otherwise compute and overhead cannot be
// separated.
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

// An ExchangeCost is the result of all rounds. Times are per step, in ms.
struct ExchangeCost {
  size_t rounds = 0;
  double step_ms = 0, without_ms = 0, alone_ms = 0;  // medians over the rounds
  RatioInterval speedup{};                           // time of a step with the all-reduce, over one without it
  SpeedVerdict verdict = SpeedVerdict::kCannotTell;  // is it faster without
  double samples_per_second = 0;                     // samples per second of all ranks; 0: unknown
  bool same_work = true;                             // a rank alone has as many samples a step

  // Shares of a step; they add up to 1. A share that cannot be separated is absent. Below 0: within the noise.
  double Communication() const { return 1 - without_ms / step_ms; }
  std::optional<double> Overhead() const;
  std::optional<double> Compute() const;
};

// Runs the rounds, each part by `run`, and returns the medians. Returns an error if a run fails, there is no
// exchange to leave out, or the user ends it. `ranks` is the number of ranks of the whole job.
Result<ExchangeCost> MeasureExchange(const ExchangeOptions& options, int ranks,
                                     const std::function<Result<RunSample>(ExchangePart)>& run);

}  // namespace gapless::internal
