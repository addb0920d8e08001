// SPDX-License-Identifier: Apache-2.0
// The decision about one fix, and the table of all decisions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gapless/optimize.h"
#include "optimize/change.h"
#include "optimize/fix_set.h"
#include "trial/run_sample.h"
#include "validate/metric_change.h"
#include "validate/pair_sequence.h"
#include "validate/parity.h"

namespace gapless::internal {

// A Stage is one state of the job as measured, for a row of the table. Absent: not measured. Shares are 0–1.
struct Stage {
  double step_ms = 0;
  std::optional<double> samples_per_second{}, memory_bytes{}, gpu_utilization{}, last_loss{}, metric{};
  std::optional<double> host_memory_bytes{};  // highest resident memory of the processes
  std::vector<double> losses{};               // losses of each step of a run in this state; NaN where none was seen
};
Stage StageOf(const RunSample& sample);
Stage StageOf(std::span<const RunSample> runs);  // stage of the run with the median step; needs at least one run

// Returns B's time over A's: of a sample where both know how many a step has, else of a step. A fix may give a
// step more samples, and a step that takes longer for that is not slower.
double TimeRatio(const Stage& a, const Stage& b);

// A Decision is the outcome for one fix, with everything that the report shows about it. Absent: not measured, or
// not asked.
struct Decision {
  FixItem item{};
  FixOutcome outcome = FixOutcome::kNoTime;
  std::string reason{};                      // a sentence, without the fix's name
  std::optional<RatioInterval> predicted{};  // speedups; of the step it was predicted from
  std::optional<RatioInterval> measured{};   // over those that were on before it
  bool alone = false;                        // no other was on before it
  std::string beside{};                      // the fixes that were on, as FixSet::ToString() has them
  size_t pairs = 0;
  bool live = false;                       // measured in blocks of one process
  std::optional<double> detectable{};      // smallest share of time that these pairs can detect
  std::optional<ParityReport> training{};  // with it and those before: is it the same? absent: not asked
  std::vector<Change> changes{};
  std::optional<MetricChange> metric{};  // of --metric, in the latest runs that were compared
  std::optional<Stage> stage{};          // with it and those before
  std::optional<Stage> before{};         // those before, in the same pairs of runs
  std::optional<double> startup_s{};     // that it takes longer until the first measured step
  double run_s = 0;                      // a run with it takes, start and all; 0: it was not run
  double took_s = 0;                     // wall time of the decision
};

// Returns the number of steps that pay back a longer start; absent if the start is not longer, or never paid back.
std::optional<int64_t> BreakEvenSteps(const Decision& decision, const Stage& before);

// Sets the step times of what was accepted so that they follow from the measured gains: each is that of the stage
// before, divided by its speedup. Runs of another minute differ by more than pairs do. `proved` is the stage that was
// measured beside `before`, the last one; where the gains before it do not fit to that, their stages have no step time:
// they are absent.
void StageByGains(const Stage& before, const Decision* proved, std::vector<Decision>& decisions);

}  // namespace gapless::internal
