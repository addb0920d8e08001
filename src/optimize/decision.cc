// SPDX-License-Identifier: Apache-2.0
// Computes stages, time ratios and break-even steps of decisions.
//
// A stage is the job as one representative run measured it. For several runs that is the run with the median step,
// as a whole: values of one run belong together, which medians of each value would not.
#include "optimize/decision.h"

#include <algorithm>
#include <cmath>

#include "base/order_statistics.h"
#include "optimize/contest.h"

namespace gapless::internal {
Stage StageOf(const RunSample& sample) {
  Stage stage{.step_ms = SteadyStepMs(sample)};
  if (sample.samples_per_second && stage.step_ms > 0)
    stage.samples_per_second = *sample.samples_per_second * MeanStepMs(sample) / stage.step_ms;
  stage.memory_bytes = sample.gpu_memory_bytes;
  const auto busy = sample.telemetry.find("gpu.utilization");
  if (busy != sample.telemetry.end()) stage.gpu_utilization = busy->second.mean;
  stage.metric = sample.metric;
  const auto resident = sample.telemetry.find("process.resident");
  if (resident != sample.telemetry.end()) stage.host_memory_bytes = resident->second.highest;
  stage.losses = sample.losses;
  for (const double loss : sample.losses)
    if (std::isfinite(loss)) stage.last_loss = loss;
  return stage;
}

Stage StageOf(std::span<const RunSample> runs) {
  std::vector<Stage> stages;
  for (const RunSample& run : runs) stages.push_back(StageOf(run));
  return UpperMedian(stages, &Stage::step_ms);
}

double TimeRatio(const Stage& a, const Stage& b) {
  if (a.samples_per_second && b.samples_per_second && *b.samples_per_second > 0)
    return *a.samples_per_second / *b.samples_per_second;
  return b.step_ms / a.step_ms;
}

std::optional<int64_t> BreakEvenSteps(const Decision& decision, const Stage& before) {
  if (!decision.startup_s || !decision.stage || *decision.startup_s <= 0) return std::nullopt;
  const double saved_ms = before.step_ms * (1 - TimeRatio(before, *decision.stage));
  if (saved_ms <= 0) return std::nullopt;
  return static_cast<int64_t>(std::ceil(*decision.startup_s * 1e3 / saved_ms));
}

void StageByGains(const Stage& before, const Decision* proved, std::vector<Decision>& decisions) {
  const Stage* previous = &before;
  std::vector<Decision*> derived;
  for (Decision& decision : decisions) {
    if (decision.outcome != FixOutcome::kAccepted || !decision.stage) continue;
    Stage& stage = *decision.stage;
    if (&decision == proved) {
      const bool fits = TimeRatio(*previous, stage) < 1;
      for (Decision* other : derived)
        if (!fits) other->stage.reset();
      return;
    }
    if (decision.measured) {
      // A fix that gives a step more samples has steps of its own length.
      const double longer =
          stage.samples_per_second && previous->samples_per_second
              ? stage.step_ms * *stage.samples_per_second / (previous->step_ms * *previous->samples_per_second)
              : 1;
      const double gain = decision.measured->expected;
      stage.step_ms = previous->step_ms * longer / gain;
      if (previous->samples_per_second) stage.samples_per_second = *previous->samples_per_second * gain;
      derived.push_back(&decision);
    }
    previous = &stage;
  }
}

}  // namespace gapless::internal
