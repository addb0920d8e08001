// SPDX-License-Identifier: Apache-2.0
// Do several new runs agree that the level moved? Whatever the noise is like, one run cannot tell. The answer rests on
// the chances of their ranks in an unchanged program, which hold for every kind of noise, spikes, heavy tails and
// several machines included, as long as any order of the runs is equally likely. Larger values are worse.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace gapless::internal {

// The settings of the question whether runs agree.
struct AgreementOptions {
  double chance = 1.25e-4;  // the chance per number of runs looked at
  double least_shift = 0;   // the runs must be higher by this, in the unit of the values
  size_t least_baseline = 10;
};

// Returns the numbers of the newest `values` that are looked at together.
std::span<const size_t> AgreementWindows();

// Returns the smallest number of newest runs, of `values` from `begin` on, that agree in one of two ways. Runs from
// `learned` on are never in the baseline. Larger values are worse.
//
// - Their ranks among the runs before them have at most the chance of the options. Three at least are higher than these
//   by `least_shift`, and so is their median, also than the last ten before and clearly than the line through the last
//   hundred: what a slow drift does not reach.
// - So many of them are above every run before, by half of `least_shift`, that this has at most that chance; and the
//   distribution of the runs moved by `least_shift`. This finds a slowdown among machines that differ by more.
std::optional<size_t> RunsThatAgree(std::span<const double> values, size_t begin, size_t learned,
                                    const AgreementOptions& options);

// The same for the last `size` runs alone. More than 24 never agree.
bool Agree(std::span<const double> values, size_t begin, size_t learned, size_t size, const AgreementOptions& options);

// The most runs of a baseline that are ranked: the newest ones.
inline constexpr size_t kMaxRanked = 100;

// Returns the chance that k runs have ranks among the n + k runs as high as those of `window` or higher (exact rank
// sum; Wilcoxon 1945, Individual comparisons by ranking methods). Of equal values those of the window count as the
// lower ones. Returns 1 if either is empty.
double RankSumChance(std::span<const double> baseline, std::span<const double> window);

// Returns the chance that at least `beyond` of `window` new runs are above all of `baseline` runs (exact; the
// exceedance test of Wilks 1942, Statistical prediction with special reference to the problem of tolerance limits).
double ExceedanceChance(size_t baseline, size_t window, size_t beyond);

}  // namespace gapless::internal
