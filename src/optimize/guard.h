// SPDX-License-Identifier: Apache-2.0
// Does the training still learn the same? Losses of the same steps with and without fixes, held to what the loosest of
// the fixes promises:
//
//   exact       every loss is the same number. Where two runs without the fixes already differ, no fix can promise
//               that: then as rounding, by the spread of those runs alone
//   rounding    over the first kClose steps the losses differ by at most kSpread times what two runs without differ by,
//               or `rounding` of the largest loss, whichever is more. Later ones drift apart by themselves
//   stochastic  step by step they are other numbers: over the second half, the mean may be higher by at most
//               kSpread times the spread of the means of runs without, or kMeanShare of it; what is more than that
//               must also be more than chance (three standard errors)
//   training    as stochastic: only what becomes worse counts
//
// Of every class: a loss that is no number, where it was one without, fails; so does one that lies above the other's
// over nearly all of the second half (sign test) by more than kMeanShare, and the more the later.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "optimize/fix.h"

namespace gapless::internal {

inline constexpr size_t kClose = 20;
inline constexpr double kSpread = 3, kMeanShare = 2e-2;
// `rounding` where the fixes compute as before, and where one computes in bfloat16, of 8 bits.
inline constexpr double kFloat32Rounding = 1e-3, kBfloat16Rounding = 1e-2;

using Losses = std::vector<double>;  // by step; NaN where none was seen, or where it was none

struct GuardReport {
  bool checked = false;  // there were losses to look at
  bool passed = true;
  bool exact = false;              // every loss was the same
  std::string reason{};            // why it did not pass
  size_t steps = 0;                // that were compared
  double max_difference = 0;       // of losses of the same step
  std::optional<double> spread{};  // the same between runs without; absent with one run
};

// `without` and `with` are runs of one job from the same start; empty runs are left out.
GuardReport CheckLosses(FixClass promised, std::span<const Losses> without, std::span<const Losses> with,
                        double rounding = kFloat32Rounding);

// A number that the program prints, at its end. Two-sided: which way is worse is not known.
GuardReport CheckMetric(FixClass promised, std::span<const double> without, std::span<const double> with);

}  // namespace gapless::internal
