// SPDX-License-Identifier: Apache-2.0
// A ProcessRunner runs the user's command with fixes on. A run that hangs is ended; nothing of the user's is
// written to by us. For one thread: runs follow one another, so that they do not disturb each other.
#pragma once

#include <string>
#include <vector>

#include "optimize/planner.h"
#include "proof/same_outputs.h"
#include "proof/same_training.h"

namespace gapless::internal {

struct TrialJob {
  RunRequest request{};  // the command, how many steps, its time limit
  FixContext context{};
  ParityPlan parity{};
  OutputPlan outputs{};  // instead, where `request` measures requests
};

class ProcessRunner : public JobRunner {
 public:
  explicit ProcessRunner(TrialJob job) : job_(std::move(job)) {}
  Result<RunSample> Run(const FixSet& set) override;
  Result<RunSample> RunBaseline(size_t number) override;
  Result<RunSample> RunFirst(const FixSet& set) override;
  Result<ParityReport> Training(const FixSet& set, bool exact) override;
  Result<RunSample> RunBlocks(const FixSet& set, BlockDriver& driver) override;
  void EndBy(Clock::time_point when) override { end_by_ = when; }
  void MeasureFor(double seconds) override { max_measured_ns_ = static_cast<int64_t>(seconds * 1e9); }
  void CutAbove(double step_ms) override { cut_above_ns_ = step_ms * 1e6; }
  size_t runs() const { return runs_; }

 private:
  RunRequest RequestFor(const FixSet& set) const;
  Result<void> PrepareParity();
  Result<RunSample> RunForParity(const ParityOptions& options);
  Result<RunSample> Start(const RunRequest& request);

  TrialJob job_;
  double longest_s_ = 0;  // longest wall time of a successful run
  // Processes differ by more than the steps of one, so more pairs narrow the interval further than longer runs do.
  int64_t max_measured_ns_ = 2'000'000'000;
  double cut_above_ns_ = 0;  // mean step from which a run is stopped early; 0: none
  size_t runs_ = 0;
  std::optional<TrainingParity> parity_{};  // made with the first baseline
  std::optional<OutputParity> outputs_{};   // likewise, of a program that infers
  std::optional<Clock::time_point> end_by_{};
};

}  // namespace gapless::internal
