// SPDX-License-Identifier: Apache-2.0
// Predicts the step time of a job with given fixes, after its recording has passed the self-check.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "predict/calibration.h"
#include "predict/fix.h"
#include "predict/job.h"
#include "predict/self_check.h"
#include "predict/typical_steps.h"

namespace gapless::internal {

struct Prediction {
  std::vector<WhatIfItem> what{};
  double work = 1;                 // work of a step as a multiple of the recorded step's; shares are per work
  StepShares model{};              // modelled shares of the step before this item
  StepShares share{};              // the same with what tested predictions say of such models: an 80 % interval
  std::vector<Effect> effects{};   // effects of each item after those before it: of tested values …
  Effect replay_error{};           // … and how far the replay of the recording itself is off: they add up to `share`
  Safety safety = Safety::kExact;  // the worst of the items
  std::vector<std::string> assumptions{};
  std::vector<std::string> nothing{};  // items without effect, or with less than 0.5 %: why
  std::string refusal{};               // reason for a missing prediction
};

class Predictor {
 public:
  // Makes a predictor of the primary recordings of `tables.run()`: of all ranks together if their collectives can be
  // matched and the whole passes its check, otherwise of the rank with the most GPU operations, or with the most
  // operators without a device. `ledger`: prediction test data. Of a recording with many steps some are replayed
  // (typical_steps.h), and of many ranks some (rank_classes.h); with `all_steps` all of both. Absent if neither an
  // operator nor a GPU operation was recorded.
  static std::optional<Predictor> Make(Tables& tables, std::span<const AdviceRow> ledger = BuiltInLedger(),
                                       bool all_steps = false);

  const SelfCheck& check() const { return check_; }
  const Job& job() const { return *job_; }
  // The rank with the most to see: the one that critical paths and sweeps are of.
  const RankGraph& main_rank() const { return job_->ranks[0]; }
  // The steps, or the stretch without steps, that stand for all; absent: all are replayed. Recordings of the job are
  // then stretches of the run's, with rows of their own and the run's times.
  const std::optional<TypicalSteps>& typical_steps() const { return typical_; }
  // The ranks that were recorded; more than there are in the job where one stands for those that work alike.
  size_t all_ranks() const { return all_ranks_; }
  const Calibration& calibration() const { return *calibration_; }
  const std::string& apart() const { return apart_; }  // why ranks are not replayed together; empty: they are, or one
  // Mean of all steps of all ranks as recorded; without steps all of the analysed time.
  int64_t step_ns() const;
  // Converts time of a step as replayed to time of such a step.
  int64_t OfMeanStep(int64_t ns) const;
  // A step as replayed when nobody records it: what shares are of.
  int64_t bare_step_ns() const { return bare_step_ns_[static_cast<size_t>(Estimate::kExpected)]; }
  Machine machine() const;
  // Several replays run on it side by side.
  ThreadPool& pool() const { return *pool_; }

  // The self-check was passed. An error: an item cannot be read.
  Result<Prediction> Predict(const std::vector<WhatIfItem>& items) const;
  // A job with some fixes applied, on which further fixes are tried. Copies share the times of edges.
  struct Made {
    std::vector<EdgeTimes> times{};                     // by rank
    double share = 1;                                   // share of the step before this item, per unit of work
    double work = 1;                                    // work of a step as a multiple of the recorded step's
    bool acts = true;                                   // the last of the fixes does something
    Estimate recording = Estimate::kExpected;           // how much of the host's time is the recorder's
    std::vector<std::string> assumptions{}, nothing{};  // what the models say of them
  };
  // Fixes made one after the other, and what they bring so far.
  struct Progress {
    Made made{};                 // as expected
    std::array<Made, 2> others;  // if recording took less of the host's time, or more
    Prediction prediction{};     // shares are set by Predict
    Effect model{}, tested{};    // effect of all items together
  };
  Progress Start() const;
  // Makes one more fix. Sets `refusal` of the prediction where nothing can be said of it. An error: it cannot be read.
  Result<void> Add(const WhatIfItem& item, Progress& progress) const;
  // Returns the prediction with the shares of what was made.
  Prediction Conclude(const Progress& progress) const;
  const Made& Nothing(Estimate recording = Estimate::kExpected) const {
    return nothing_[static_cast<size_t>(recording)];
  }
  // Returns the expected effect of a further item, as a logarithm; absent without an answer.
  std::optional<double> ExpectedOf(const Made& made, const WhatIfItem& item) const;
  // Returns the work that the last item removes from a mean step of the main rank, after the other items.
  struct Removed {
    int64_t host_ns = 0, device_ns = 0;
  };
  Removed RemovedBy(const Made& before, const Made& after) const;
  // Edges of each rank with the items applied as expected, for who wants to look at the replay itself.
  Result<std::vector<std::vector<int64_t>>> Edges(const std::vector<WhatIfItem>& items) const;

 private:
  Predictor(Job job, SelfCheck check, Tables& tables, std::shared_ptr<ThreadPool> pool,
            std::span<const AdviceRow> ledger);
  static std::optional<Predictor> MakeOfTypical(Tables& tables, std::span<const RunTrace* const> candidates,
                                                const std::shared_ptr<ThreadPool>& pool,
                                                std::span<const AdviceRow> ledger);
  static std::optional<Predictor> MakeOfRow(std::optional<TypicalSteps> typical,
                                            std::span<const RunTrace* const> candidates,
                                            const std::shared_ptr<ThreadPool>& pool, std::span<const AdviceRow> ledger);
  static Predictor MakeOfAll(Tables& tables, std::span<const RunTrace* const> candidates,
                             const std::shared_ptr<ThreadPool>& pool, std::span<const AdviceRow> ledger);
  // Applies one more item to the times of all ranks. An error: it cannot be read, or nothing can be said of it.
  Result<void> Apply(const WhatIfItem& item, Estimate estimate, Made& made) const;
  // The same, and replays.
  Result<void> Make(const WhatIfItem& item, Estimate estimate, Made& made) const;
  double ShareOf(const Made& made) const;
  // Bounds what tested predictions say of an item by what can be: without all that it shortens a step takes what it
  // takes, and a fix that only takes work away costs nothing. `uncertain`: how much more the item may save since
  // recording may have taken less of the host's time than is expected; 0 or less, as an effect.
  Effect Bounded(const Made& before, const Made& after, const WhatIfItem& item, const Effect& model,
                 double uncertain) const;
  // Why a step stays as long, although the item changes something.
  std::string WhyHidden(const Made& before, const Made& after, const WhatIfItem& item) const;
  Result<Effect> EffectOf(const Made& before, const Made& after, const WhatIfItem& item,
                          std::array<Made, 2>& others) const;

  std::shared_ptr<const Job> job_;
  SelfCheck check_;
  std::array<Made, 3> nothing_{};          // by Estimate: without what recording took; of accepted recordings only
  std::array<int64_t, 3> bare_step_ns_{};  // by Estimate: a step of that
  std::optional<TypicalSteps> typical_{};
  size_t all_ranks_ = 1;
  Tables* tables_;  // tables of the replayed recordings
  std::shared_ptr<ThreadPool> pool_;
  std::shared_ptr<const Calibration> calibration_;
  std::string apart_{};
};

// Returns the id of a combination in the prediction test data: its names in alphabetical order, joined by "+".
std::string KindOf(const std::vector<WhatIfItem>& items);

}  // namespace gapless::internal
