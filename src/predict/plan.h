// SPDX-License-Identifier: Apache-2.0
// The plan: every fix worth making once, in the order in which they pay, each with what it brings after those before.
//
// Findings overlap: three rules may ask for the same fix, and two fixes may save the same wait. So the plan is made
// like a waterfall. Of all fixes the one is taken with which the step is shortest; then, of the others, the one with
// which it is shortest beside those taken; and so on, as long as one brings kMinBought. A finding whose
// recommendations name a fix that was taken hangs under the one it was taken for, and has no gain of its own. The last
// sum is what all bring together, and it is what `gapless predict --what` says of the same fixes in the same order.
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
// severe as its fix may save.
#pragma once

#include <vector>

#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "predict/predictor.h"

namespace gapless::internal {

inline constexpr double kMinBought = 1.005;  // speedups below it are shown as 1.00×

struct FixPlan {
  std::vector<PlanStep> steps{};
  std::optional<Combination> together{};
};

// Speedup factors of the whole step; of several items `tested_programs` is that of the least tested one.
Gain GainOf(const Prediction& prediction, const Calibration& calibration);

// Orders and prices `found`. `predictor`: nullptr where the recording cannot be replayed; then every gain is an
// estimate.
FixPlan MakePlan(const Predictor* predictor, const LedgerView& ledger, std::vector<Bottleneck>& found);

}  // namespace gapless::internal
