// SPDX-License-Identifier: Apache-2.0
// Finds the end of warm-up and the beginning of the steady part of a series of step times, if there is one.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gapless::internal {

// The classes of Barrett, Bolz-Tereick, Killick, Mount and Tratt 2017, "Virtual machine warmup blows hot and cold",
// section 4.
enum class SteadyOutcome {
  kTooShort,  // fewer than kMinSteps: nothing can be said
  kFlat,      // steady from the first step on
  kWarmup,    // slower first, and nothing before was faster than the steady part
  kSlowdown,  // some part before was faster than the steady one
  kNone       // the level still changes in the last quarter
};
std::string_view SteadyOutcomeName(SteadyOutcome outcome);

constexpr size_t kMinSteps = 20;

struct SteadyOptions {
  // Levels nearer to each other than this are one (relative), as are those that noise explains.
  double tolerance = 0.01;
};

struct LevelSegment {
  size_t begin = 0, end = 0;  // steps [begin, end)
  double level = 0;           // their median
};

struct SteadyState {
  SteadyOutcome outcome = SteadyOutcome::kTooShort;
  std::optional<size_t> start;         // the first steady step; absent for kTooShort and kNone
  std::optional<double> level;         // median of the steady part
  std::vector<LevelSegment> segments;  // all of the series, by change points
};

// Refused: NaN and infinities. Of steady simulated series of 100 steps, 0 to 2 % get a start beyond the fifth step
// (AR(1) with phi 0.5 included; with 0.8 5 %, with 0.9 every fourth: there, drift and noise are hard to distinguish). A
// first fifth that is slower by five standard deviations is seen in all of them, in 98 % at phi 0.5.
Result<SteadyState> FindSteadyState(std::span<const double> steps, const SteadyOptions& options = {});

// Returns how many times as long the steps of the last quarter take as those of the first (by their medians), if they
// grow steadily (base/series_trend.h) and by a quarter at least: then no single number stands for them. Else absent.
std::optional<double> GrowthOf(std::span<const double> steps);

// MSER-5 (White 1997; White, Cobb and Spratt 2000): how many steps to leave out so that the standard error of the mean
// of the rest is least, in batches of five, at most half of the series. 0 below ten steps.
size_t Mser5(std::span<const double> steps);

}  // namespace gapless::internal
