// SPDX-License-Identifier: Apache-2.0
// What would a step take, if …? Answers for one job, after its recording has passed the self-check.
#pragma once

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
  std::vector<Effect> effects{};   // of each item after those before it, so tested …
  Effect replay_error{};           // … and how far the replay of the recording itself is off: they add up to `share`
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
  Machine machine() const;

  // The self-check was passed. An error: an item cannot be read.
  Result<Prediction> Predict(const std::vector<WhatIfItem>& items) const;
  // What is expected of the last item after the others, in logarithms: to look for the best of many combinations.
  // Absent: there is no answer.
  std::optional<double> ExpectedOfLast(const std::vector<WhatIfItem>& items) const;
  // What the last item takes away of the work of a mean step of the main rank, after the others.
  struct Removed {
    int64_t host_ns = 0, device_ns = 0;
  };
  Removed RemovedByLast(const std::vector<WhatIfItem>& items) const;
  // Edges of each rank with the items applied as expected, for who wants to look at the replay itself.
  Result<std::vector<std::vector<int64_t>>> Edges(const std::vector<WhatIfItem>& items) const;

 private:
  // Each item in its case; what they say goes into `prediction`, and whether the last one has an effect into
  // `last_acts`.
  using Cases = std::span<const Case>;
  using Items = std::span<const WhatIfItem>;
  struct Replayed {
    double share = 1;
    bool last_acts = true;
  };
  Result<std::vector<std::vector<int64_t>>> EdgesAt(Items items, Cases cases, Prediction& prediction,
                                                    bool& last_acts) const;
  Result<Replayed> ReplayAt(Items items, Cases cases, Prediction& prediction) const;
  // Of the last item, as its model says; `before`: the share that those before it leave.
  Result<Effect> EffectOfLast(Items items, double before, Prediction& prediction) const;
  Predictor(Job job, SelfCheck check, Tables& tables, std::span<const AdviceRow> ledger);
  std::shared_ptr<const Job> job_;
  SelfCheck check_;
  Tables* tables_;
  std::shared_ptr<const Calibration> calibration_;
  std::string apart_{};
};

// Of a combination, for the ledger: its names in alphabetical order, joined by "+".
std::string KindOf(const std::vector<WhatIfItem>& items);

}  // namespace gapless::internal
