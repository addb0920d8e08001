// SPDX-License-Identifier: Apache-2.0
// Judges the runs with a set of fixes: does the tried fix apply, do the runs succeed, are the losses those that its
// class promises, is it faster? Each answer is stored in the decision, with its reason.
#pragma once

#include <span>
#include <vector>

#include "optimize/planner.h"

namespace gapless::internal {

class Judge {
 public:
  // They are looked at when a verdict is asked for, and outlive the judge. `baselines`: runs without any fix;
  // `printed`: those that the metric is compared with.
  Judge(const PlannerOptions& options, const std::vector<RunSample>& baselines, const std::vector<RunSample>& printed)
      : options_(options), baselines_(baselines), printed_(printed) {}

  // After its first run, with `set` on: did it end well, and does it apply? `current`: without it.
  bool PassesFirstRun(const RunSample& sample, const FixSet& set, const Stage& current, Decision& decision) const;
  // Returns true if decision.training is what the riskiest class of `set` promises.
  bool PassesTraining(const FixSet& set, Decision& decision) const;
  // Returns true if losses stay finite in these runs and the metric is unchanged. `beside`: as in MetricRuns.
  bool PassesResults(const FixSet& set, std::span<const RunSample> with, Decision& decision,
                     std::span<const RunSample> beside = {}) const;
  // The ratio of step times from which a first run is slower.
  double SlowFrom() const;
  // Stores the verdict of a comparison with the fixes that were on before.
  void Conclude(const Contest& contest, Decision& decision) const;

 private:
  const PlannerOptions& options_;
  const std::vector<RunSample>&baselines_, &printed_;
};

}  // namespace gapless::internal
