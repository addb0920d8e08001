// SPDX-License-Identifier: Apache-2.0
// Chances of ranks in an unchanged program. They hold for every kind of noise, spikes, heavy tails and several machines
// included, as long as any order of the runs is equally likely. Larger values are worse.
#pragma once

#include <cstddef>
#include <span>

namespace gapless::internal {

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
