// SPDX-License-Identifier: Apache-2.0
// Looks for the power limit, or the clock, at which a training step costs least, with few of them tried: a
// golden-section search (Kiefer 1953) over the values that the boards admit. What is said of limits here holds for
// clocks as well.
//
// Between two limits the energy of a step falls and then rises: a low limit makes the step long, and the board draws
// its idle power meanwhile; a high limit buys little speed for much power. Where a limit does not bind, everything is
// as with a higher one, so that two limits that cost the same leave the lower part of the range. While the search
// stays at the lowest limit, that one is tried, too. What is compared is a measured ratio to the usual limit and has
// noise; a wrong turn near the optimum costs little, because the curve is flat there.
//
// Under a limit of slowdown the optimum is often where the step is just as slow as allowed. Once limits on both sides
// of it are known, the search goes on between them by interpolation (regula falsi): the time of a step is monotone and
// convex in the limit, so that the interpolated limit errs to the faster side.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace gapless::internal {

// The quantity of a step that is to be least.
struct PowerGoal {
  // 0: its joules. Above, as Zeus's cost: (1 - w) of the joules and w of what its time would take at the highest limit.
  double time_weight = 0;
  std::optional<double> most_slowdown{};  // share of time by which a step may be longer than at the usual limit
};

// The limits that all boards of the job admit, W for each board; or clocks, MHz.
struct PowerRange {
  double low = 0, high = 0;
  double usual = 0;                // what is set now; of clocks the highest, as where none is locked
  std::vector<double> admitted{};  // ascending, from low to high; empty: every whole number

  // The admitted value next to one inside the range.
  double Nearest(double value) const;
  // The admitted value at or above `value`, else the next below it, that is between two admitted ones; none: there is
  // none between them.
  std::optional<double> Between(double value, double below, double above) const;
};

// A step at a limit, over a step at the usual limit.
struct PowerReading {
  double value = 0;             // the limit or clock
  double energy = 1, time = 1;  // ratios
};

// The cost by the goal, over the same at the usual limit. `draw` is the mean power of a board at the usual limit as a
// share of the highest power limit. Slowdown does not count here.
double CostRatio(const PowerGoal& goal, double energy, double time, double draw);

class PowerSearch {
 public:
  // With the usual limit at most `most_settings` limits are tried.
  PowerSearch(const PowerRange& range, const PowerGoal& goal, size_t most_settings = 8);

  // The draw of CostRatio(), to be set before the first reading where time counts.
  void SetDraw(double draw) { draw_ = draw; }
  // The admitted limit to try next; none: the search is over.
  std::optional<double> Next() const;
  // Takes the reading of the limit that Next() named.
  void Add(const PowerReading& reading);
  // The least reading that keeps to the slowdown; none: no limit is better than the usual one.
  std::optional<PowerReading> Best() const;
  std::span<const PowerReading> readings() const { return readings_; }

 private:
  double Objective(const PowerReading& reading) const;
  bool IsAllowed(const PowerReading& reading) const;
  const PowerReading* At(double value) const;
  std::optional<double> NextOfSection() const;
  std::optional<double> NextAtBound() const;
  void Narrow();

  PowerRange range_;
  PowerGoal goal_;
  size_t most_readings_;
  double draw_ = 1;
  double low_, high_;              // where the optimum is
  double first_ = 0, second_ = 0;  // the two limits inside, first_ < second_
  bool is_narrow_ = false, asks_lowest_ = false;
  std::vector<PowerReading> readings_{};
};

}  // namespace gapless::internal
