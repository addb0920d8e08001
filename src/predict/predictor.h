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
#include "predict/freed_memory.h"
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
  std::vector<std::string> no_effect{};  // items without effect, or with less than 0.5 %: why
  std::string refusal{};                 // reason for a missing prediction
  std::vector<FreedMemory> memory{};     // of items that free some, where that is known; also of a refused prediction
};

class Predictor {
 public:
  // Returns a predictor for the primary recordings of `tables.run()`: of all ranks together if their collectives can be
  // matched and the whole passes its check, otherwise of the rank with the most GPU operations, or with the most
  // operators without a device. `ledger`: prediction test data. Of a recording with many steps some are replayed
  // (typical_steps.h), and of many ranks some (rank_classes.h); with `all_steps` all of both. Absent if neither an
  // operator nor a GPU operation was recorded.
  static std::optional<Predictor> ForRun(Tables& tables, std::span<const AdviceRow> ledger = BuiltInLedger(),
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
  // Tables of the replayed recordings.
  Tables& tables() const { return *tables_; }
  const Calibration& calibration() const { return *calibration_; }
  // Why the ranks are not replayed together; empty: they are, or there is one.
  const std::string& why_not_together() const { return why_not_together_; }
  // Mean of all steps of all ranks as recorded; without steps all of the analysed time.
  int64_t step_ns() const;
  // Scales a part of the replayed step to the same part of a step of step_ns().
  int64_t ScaledToMeanStep(int64_t ns) const;
  // Time of a replayed step without the cost of recording. All shares of a step are shares of this time.
  int64_t bare_step_ns() const { return bare_step_ns_[static_cast<size_t>(Estimate::kExpected)]; }
  Machine machine() const;
  // Several replays run on it side by side.
  ThreadPool& pool() const { return *pool_; }

  // Predicts all of `items` together. Only to be called if the self-check was passed. An error: an item cannot be read.
  Result<Prediction> Predict(const std::vector<WhatIfItem>& items) const;
  // A job with some fixes applied, on which further fixes are tried. Copies share the times of edges.
  struct FixedJob {
    std::vector<EdgeTimes> times{};                       // by rank
    double share = 1;                                     // share of the step before this item, per unit of work
    double work = 1;                                      // work of a step as a multiple of the recorded step's
    bool acts = true;                                     // the last of the fixes does something
    Estimate recording = Estimate::kExpected;             // how much of the host's time is the recorder's
    std::vector<std::string> assumptions{}, no_effect{};  // what the models say of them
  };
  // Fixes that were applied one after the other, and what they bring so far.
  struct Progress {
    FixedJob expected{};             // with the recorder's share of the host's time as expected
    std::array<FixedJob, 2> others;  // if recording took less of it, or more
    Prediction prediction{};         // shares are set by Predict
    Effect model{}, tested{};        // effect of all items together
  };
  Progress Start() const;
  // Applies one more fix. Sets `refusal` of the prediction where nothing can be said of it. An error: it cannot be
  // read.
  Result<void> Add(const WhatIfItem& item, Progress& progress) const;
  // Returns the prediction with the shares of all that was applied.
  Prediction Conclude(const Progress& progress) const;
  // The job without any fix. `recording`: how much of the host's time is the recorder's.
  const FixedJob& Unfixed(Estimate recording = Estimate::kExpected) const {
    return unfixed_[static_cast<size_t>(recording)];
  }
  // Returns the expected effect of a further item, as a logarithm; absent without an answer.
  std::optional<double> ExpectedOf(const FixedJob& job, const WhatIfItem& item) const;
  // Returns the work that the last item removes from a mean step of the main rank, after the other items.
  struct Removed {
    int64_t host_ns = 0, device_ns = 0;
  };
  Removed RemovedBy(const FixedJob& before, const FixedJob& after) const;
  // Edges of each rank with the items applied as expected: for pictures of the replay.
  Result<std::vector<std::vector<int64_t>>> Edges(const std::vector<WhatIfItem>& items) const;

 private:
  Predictor(Job job, SelfCheck check, Tables& tables, std::shared_ptr<ThreadPool> pool,
            std::span<const AdviceRow> ledger);
  static std::optional<Predictor> ForTypicalSteps(Tables& tables, std::span<const RunTrace* const> candidates,
                                                  const std::shared_ptr<ThreadPool>& pool,
                                                  std::span<const AdviceRow> ledger);
  static std::optional<Predictor> ForStepsInARow(std::optional<TypicalSteps> typical,
                                                 std::span<const RunTrace* const> candidates,
                                                 const std::shared_ptr<ThreadPool>& pool,
                                                 std::span<const AdviceRow> ledger);
  static std::optional<Predictor> ForSummaries(Tables& tables, std::span<const RunTrace* const> all,
                                               const std::shared_ptr<ThreadPool>& pool,
                                               std::span<const AdviceRow> ledger);
  static Predictor ForAllSteps(Tables& tables, std::span<const RunTrace* const> candidates,
                               const std::shared_ptr<ThreadPool>& pool, std::span<const AdviceRow> ledger);
  // Applies one more item to the times of all ranks. An error: it cannot be read, or nothing can be said of it.
  Result<void> Apply(const WhatIfItem& item, Estimate estimate, FixedJob& job) const;
  // The same, and replays, so that `job.share` is up to date.
  Result<void> ApplyAndReplay(const WhatIfItem& item, Estimate estimate, FixedJob& job) const;
  double ShareOf(const FixedJob& job) const;
  // Bounds what tested predictions say of an item by what can be: without all that it shortens a step takes what it
  // takes, and a fix that only takes work away costs nothing. `uncertain`: how much more the item may save since
  // recording may have taken less of the host's time than is expected; 0 or less, as an effect.
  Effect Bounded(const FixedJob& before, const FixedJob& after, const WhatIfItem& item, const Effect& model,
                 double uncertain) const;
  // Why a step stays as long, although the item changes something.
  std::string WhyHidden(const FixedJob& before, const FixedJob& after, const WhatIfItem& item) const;
  Result<Effect> EffectOf(const FixedJob& before, const FixedJob& after, const WhatIfItem& item,
                          std::array<FixedJob, 2>& others) const;

  std::shared_ptr<const Job> job_;
  SelfCheck check_;
  std::array<FixedJob, 3> unfixed_{};      // by Estimate: without what recording took; of accepted recordings only
  std::array<int64_t, 3> bare_step_ns_{};  // by Estimate: a step of that
  std::optional<TypicalSteps> typical_{};
  // The events of summaries that are replayed (summary_steps.h); the tables refer to the run.
  std::shared_ptr<const Run> summary_run_{};
  std::shared_ptr<Tables> summary_tables_{};
  size_t all_ranks_ = 1;
  Tables* tables_;  // tables of the replayed recordings
  std::shared_ptr<ThreadPool> pool_;
  std::shared_ptr<const Calibration> calibration_;
  std::string why_not_together_{};
};

// Returns the id of a combination in the prediction test data: its names in alphabetical order, joined by "+".
std::string KindOf(const std::vector<WhatIfItem>& items);

}  // namespace gapless::internal
