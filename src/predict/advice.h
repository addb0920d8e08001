// SPDX-License-Identifier: Apache-2.0
// The rules' findings, with the speedup of each fix and of all fixes together. A rule estimates its gain from the
// affected intervals (diagnose/estimate.h). Where its first recommendation names an item of `predict --what` and the
// recording passes the self-check, a replay takes the place of the estimate. Order and gains are those of
// one plan (plan.h), and whatever shows them takes them from here.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diagnose/findings.h"
#include "predict/critical_path.h"
#include "predict/plan.h"
#include "predict/predictor.h"
#include "predict/step_picture.h"
#include "predict/sweep.h"

namespace gapless::internal {

class Advice {
 public:
  // `tables` outlives it.
  explicit Advice(Tables& tables, std::span<const AdviceRow> ledger = BuiltInLedger(), bool all_steps = false);

  // Every rule's bottlenecks, in the order of the plan and with its gains. Not for two threads at once.
  const Diagnosis& diagnosis() const;
  // Absent: nothing can be replayed.
  const std::optional<Predictor>& predictor() const { return predictor_; }
  // The plan is made of the rules that are asked for.
  Findings Conclude(const AnalyzeOptions& options) const;
  // A step as recorded, and with the plan's replayable fixes at the plan's length; absent without such fixes or without
  // a complete step.
  std::optional<StepPictures> Draw(const Combination& together) const;
  // The speedup from cheaper kernels, for the few that take the most time; empty if nothing can be replayed.
  std::vector<SweptPart> SweepKernels() const;
  // The critical path of the main rank as recorded; absent if nothing can be replayed.
  std::optional<DividedPath> Path() const;

 private:
  bool Replays() const { return predictor_ && predictor_->check().accepted(); }

  Tables& tables_;
  std::optional<Predictor> predictor_{};
  Diagnosis found_{};                             // with the rules' own estimates
  mutable std::optional<Diagnosis> diagnosis_{};  // as planned, once somebody asked
};

}  // namespace gapless::internal
