// SPDX-License-Identifier: Apache-2.0
// What runs with a set of fixes say of the one that is tried: does it apply, do runs with it end well, are the losses
// what its class promises, is it faster. Each answer is put into the decision, with its reason.
#pragma once

#include <span>
#include <vector>

#include "optimize/planner.h"

namespace gapless::internal {

class Judge {
 public:
  // Both are looked at when a verdict is asked for, and outlive the judge. `baselines`: runs without any fix.
  Judge(const PlannerOptions& options, const std::vector<RunSample>& baselines)
      : options_(options), baselines_(baselines) {}

  // After its first run, with `set` on: did it end well, and does it apply? `current`: without it.
  bool PassesFirstRun(const RunSample& sample, const FixSet& set, const Stage& current, Decision& decision) const;
  // Is decision.training what the loosest of `set` promises?
  bool PassesTraining(const FixSet& set, Decision& decision) const;
  // Do losses stay finite in these runs, and is the metric what it was?
  bool PassesResults(const FixSet& set, std::span<const RunSample> with, Decision& decision) const;
  // The ratio of step times from which a first run is slower.
  double SlowFrom() const;
  // What became of it, from a contest against those that were on before it.
  void Conclude(const Contest& contest, Decision& decision) const;

 private:
  const PlannerOptions& options_;
  const std::vector<RunSample>& baselines_;
};

}  // namespace gapless::internal
