// SPDX-License-Identifier: Apache-2.0
// What the rules found, with what each fix and all of them together would buy.
//
// A rule estimates its gain from the intervals at stake (diagnose/estimate.h). Where its first recommendation names an
// item of `predict --what` and the recording passes the self-check, a replay takes the place of the estimate. Of all
// together the combination is replayed as a whole: gains over the same time are not counted twice.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diagnose/findings.h"
#include "predict/predictor.h"
#include "predict/step_picture.h"
#include "predict/sweep.h"

namespace gapless::internal {

inline constexpr size_t kMostTogether = 3;

// Speedup factors of the whole step.
Gain GainOf(const Prediction& prediction, const Calibration& calibration);

class Advice {
 public:
  // `tables` outlives it.
  explicit Advice(Tables& tables, std::span<const AdviceRow> ledger = BuiltInLedger());

  // Every rule's bottlenecks, ranked by what their fixes buy.
  const Diagnosis& diagnosis() const { return diagnosis_; }
  // Absent: nothing can be replayed.
  const std::optional<Predictor>& predictor() const { return predictor_; }
  Findings Conclude(const AnalyzeOptions& options) const;
  // A step as recorded, and with these fixes; absent: it cannot be replayed, or there is no complete step.
  std::optional<StepPictures> Draw(const Combination& together) const;
  // What cheaper kernels would buy, of the few that take the most time; empty: nothing can be replayed.
  std::vector<SweptPart> SweepKernels() const;

 private:
  void Price(Bottleneck& bottleneck) const;
  std::optional<Gain> GainOfFix(const Recommendation& recommendation, Safety most) const;
  std::optional<Combination> Together(const std::vector<Bottleneck>& bottlenecks) const;

  Tables& tables_;
  std::optional<Predictor> predictor_;
  Diagnosis diagnosis_;
};

}  // namespace gapless::internal
