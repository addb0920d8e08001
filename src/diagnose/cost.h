// SPDX-License-Identifier: Apache-2.0
// The cost of a run in money, energy and carbon, per step, per epoch and per month, and what a gain would save of it.
//
// Money is GPU time times a rate the user gives. Energy is GPU time times power: as the user says or, when they do not,
// the board's power limit, which is the most it can be (`watts_are_limit`). Carbon is energy times a rate. Only GPUs
// count: hosts, cooling and network are not in the numbers. A saving is that of doing the same steps in less time at
// the same power.
#pragma once

#include <cstdint>
#include <optional>

#include "diagnose/bottleneck.h"
#include "gapless/report_options.h"
#include "gapless/summary.h"
#include "trace/run.h"

namespace gapless::internal {

struct Amount {
  std::optional<double> money{}, kwh{}, carbon_kg{};
};

struct RunCost {
  int64_t gpus = 0;
  double hours_per_month = 0;
  std::optional<double> watts_per_gpu;
  bool watts_are_limit = false;  // the power limit of the board: an upper bound
  std::optional<Amount> step;    // cost of a step on all GPUs; absent: no complete step
  std::optional<Amount> epoch;
  Amount month;
};

// Absent: no rate was given, or no device did work.
std::optional<RunCost> CostOf(const Run& run, const RunSummary& summary, const CostRates& rates);

struct Saving {
  Amount low, expected, high;
};
// `left`: of the recorded step, what other fixes have left already.
Saving SavingPerMonth(const RunCost& cost, const Gain& gain, double left = 1);

}  // namespace gapless::internal
