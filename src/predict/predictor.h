// SPDX-License-Identifier: Apache-2.0
// What would a step take, if …? Answers for one job, after its recording has passed the self-check.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "predict/calibration.h"
#include "predict/job.h"
#include "predict/self_check.h"
#include "predict/what_if.h"

namespace gapless::internal {

struct Prediction {
  std::vector<WhatIfItem> what{};
  double work = 1;                 // a step does so many times the work of one before; shares are per work
  StepShares model{};              // of the step before, as the models say
  StepShares share{};              // the same with what tested predictions say of such models: an 80 % interval
  Safety safety = Safety::kExact;  // the worst of the items
  std::vector<std::string> assumptions{};
  std::vector<std::string> nothing{};  // items without effect: why
  std::string refusal{};               // why there is none
};

class Predictor {
 public:
  // Of the primary recordings of `tables.run()`: those of all ranks together where their collectives can be matched and
  // the whole passes its check, otherwise the one with the most work on devices, or with the most operators when none
  // has a device. `ledger`: tested predictions. Absent: no operator and no work of a device was recorded.
  static std::optional<Predictor> Make(Tables& tables, std::span<const AdviceRow> ledger = BuiltInLedger());

  const SelfCheck& check() const { return check_; }
  const Job& job() const { return *job_; }
  // The rank with the most to see: the one that critical paths and sweeps are of.
  const RankGraph& main_rank() const { return job_->ranks[0]; }
  Tables& tables() const { return *tables_; }
  const Calibration& calibration() const { return *calibration_; }
  const std::string& apart() const { return apart_; }  // why ranks are not replayed together; empty: they are, or one
  int64_t step_ns() const { return check_.recorded_step_ns; }
  // A step as replayed when nobody records it: what shares are of.
  int64_t bare_step_ns() const { return bare_step_ns_[static_cast<size_t>(Case::kExpected)]; }

  // The self-check was passed. An error: an item cannot be read.
  Result<Prediction> Predict(const std::vector<WhatIfItem>& items) const;
  // Only what is expected, as the models say: to look for the best of many combinations. Absent: there is no answer.
  std::optional<double> ExpectedShare(const std::vector<WhatIfItem>& items) const;
  // Edges of each rank with the items applied as expected, for who wants to look at the replay itself.
  Result<std::vector<std::vector<int64_t>>> Edges(const std::vector<WhatIfItem>& items) const;

 private:
  // Each item in its case; what they say goes into `prediction`.
  using Cases = std::span<const Case>;
  Result<std::vector<std::vector<int64_t>>> EdgesAt(const std::vector<WhatIfItem>& items, Cases cases,
                                                    Prediction& prediction, Case recording) const;
  // `recording`: how much of the host's time is the recorder's.
  Result<double> ShareAt(const std::vector<WhatIfItem>& items, Cases cases, Prediction& prediction,
                         Case recording = Case::kExpected) const;
  Result<StepShares> ModelOf(const std::vector<WhatIfItem>& items, double expected) const;
  Predictor(Job job, SelfCheck check, Tables& tables, std::span<const AdviceRow> ledger);
  std::shared_ptr<const Job> job_;
  SelfCheck check_;
  std::array<int64_t, 3> bare_step_ns_{};  // by Case: a step replayed without what recording took
  Tables* tables_;
  std::shared_ptr<const Calibration> calibration_;
  std::string apart_{};
};

// Of a combination, for the ledger: its names in alphabetical order, joined by "+".
std::string KindOf(const std::vector<WhatIfItem>& items);

}  // namespace gapless::internal
