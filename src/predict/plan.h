// SPDX-License-Identifier: Apache-2.0
// The plan: every fix worth making once, in the order in which a careful engineer would make them, each with what it
// brings after those before.
//
// Findings overlap: three rules may ask for the same fix, and two fixes may save the same wait. So the plan is made
// like a waterfall: one fix is taken, the others are priced beside it, the next one is taken, and so on, as long as one
// brings kMinBought. Taken is the fix of the most severe findings (critical before warning) that is worth most: the
// time it saves, half by its expectation and half by its lower bound, less where it is more work (hours count 0.7, days
// 0.4) and where it changes results (rounding 0.95, random numbers 0.9). So the largest waste comes first unless
// something much better is as easy, and what stands first in the list is at least as severe as what follows. A finding
// whose recommendations name a fix that was taken hangs under the one it was taken for, and has no gain of its own; so
// does one whose fixes brought something before, and nothing beside the fix taken last. The last sum is what all bring
// together, and it is what `gapless predict --what` says of the same fixes in the same order.
//
//   A fix that has a what-if is replayed beside those taken before it.
//   A finding whose first recommendation has none, or cannot be predicted, keeps its rule's estimate from the affected
//   time: of each kind of time no more goes than the recording holds and the others leave, and where a finding is
//   part of another one both together take what the larger takes.
//   Of several ranks one may be late, and the others wait for it: the finding that says with what (its waits for
//   batches, its host) is priced by the job's replay with that rank as quick as the others, and goes before the wait.
//   A fix that changes the training (a batch size) is listed where it would stand, and is not counted in what follows:
//   it is a choice, which the plan leaves out.
// A fix that saves less than kMinBought, or costs time, comes last and is minor. A replayed finding is at most as
// severe as half as much again as its fix is expected to save.
#pragma once

#include <vector>

#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "predict/predictor.h"

namespace gapless::internal {

inline constexpr double kMinor = 0.39;       // severity of what is not worth a warning
inline constexpr double kUsualHigh = 1.5;    // the most that a fix usually saves, in times of the expectation
inline constexpr double kMinBought = 1.005;  // speedups below it are shown as 1.00×

struct FixPlan {
  std::vector<PlanStep> steps{};
  std::optional<Combination> together{};
};

// Speedup factors of the whole step; of several items `tested_programs` is that of the least tested one.
Gain GainOf(const Prediction& prediction, const Calibration& calibration);

// Returns how severe a finding may be whose fix is replayed with this gain.
double MostSevere(double gain);

// Orders and prices `found`. `predictor`: nullptr where the recording cannot be replayed; then every gain is an
// estimate.
FixPlan MakePlan(const Predictor* predictor, const LedgerView& ledger, std::vector<Bottleneck>& found);

}  // namespace gapless::internal
