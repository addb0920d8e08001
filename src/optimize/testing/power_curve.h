// SPDX-License-Identifier: Apache-2.0
// A model of a board under a power limit, for tests: how long a step takes and what it draws.
//
// The board runs at the highest clock f (1: its maximum) whose power, idle + dynamic · f^exponent, is below the limit.
// A step takes a part that follows the clock and a part that waits for memory and does not.
#pragma once

#include <algorithm>
#include <cmath>

#include "optimize/power_search.h"
#include "validate/random.h"

namespace gapless::internal {

struct PowerCurve {
  PowerRange range{};
  double idle_w = 0, dynamic_w = 0, exponent = 3;
  double step_s = 0;        // at the highest clock
  double memory_share = 0;  // of that step
  double least_clock = 0.2;

  double Clock(double limit_w) const {
    const double left = std::max(0.0, limit_w - idle_w) / dynamic_w;
    return std::clamp(std::pow(left, 1 / exponent), least_clock, 1.0);
  }
  double StepSeconds(double limit_w) const { return step_s * (memory_share + (1 - memory_share) / Clock(limit_w)); }
  double Watts(double limit_w) const { return idle_w + dynamic_w * std::pow(Clock(limit_w), exponent); }
  double Joules(double limit_w) const { return Watts(limit_w) * StepSeconds(limit_w); }

  // The cost by the goal at a limit, over that at the usual one; infinite where it is slower than allowed.
  double Cost(const PowerGoal& goal, double limit_w, double slack = 0) const {
    const double time = StepSeconds(limit_w) / StepSeconds(range.usual);
    if (goal.most_slowdown && time > 1 + *goal.most_slowdown + slack) return INFINITY;
    return CostRatio(goal, Joules(limit_w) / Joules(range.usual), time, Watts(range.usual) / range.high);
  }
  // Tries every watt.
  double LeastCost(const PowerGoal& goal) const {
    double least = 1;
    for (double watts = range.low; watts <= range.high; ++watts) least = std::min(least, Cost(goal, watts));
    return least;
  }
};

// A board as they are sold, under one of many trainings.
inline PowerCurve DrawPowerCurve(Random& random) {
  constexpr double kBoards[][2] = {{100, 300}, {100, 400}, {150, 450}, {200, 700}, {200, 1000}};
  const auto between = [&](double low, double high) { return low + (high - low) * random.Uniform(); };
  const auto& board = kBoards[random.Index(5)];
  PowerCurve curve{.range = {.low = board[0], .high = board[1], .usual = board[1]}};
  curve.idle_w = between(0.1, 0.3) * board[1];
  curve.dynamic_w = between(0.7, 1.15) * board[1] - curve.idle_w;
  curve.exponent = between(1.8, 3.2);
  curve.step_s = between(0.2, 1.2);
  curve.memory_share = between(0.05, 0.7);
  return curve;
}

}  // namespace gapless::internal
