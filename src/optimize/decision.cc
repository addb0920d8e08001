// SPDX-License-Identifier: Apache-2.0
#include "optimize/decision.h"

#include <cmath>

#include "optimize/contest.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kNames[] = {"accepted",        "slower",         "too_small",   "no_time",
                                       "nothing_to_gain", "does_not_apply", "not_allowed", "conflict",
                                       "other_losses",    "fault",          "taken_out"};

}  // namespace

std::string_view NameOf(Outcome outcome) { return kNames[static_cast<size_t>(outcome)]; }

Stage StageOf(const RunSample& sample) {
  Stage stage{.step_ms = MeanStepMs(sample)};
  stage.samples_per_second = sample.samples_per_second;
  stage.memory_bytes = sample.gpu_memory_bytes;
  const auto busy = sample.telemetry.find("gpu.utilization");
  if (busy != sample.telemetry.end()) stage.gpu_utilization = busy->second.mean;
  stage.metric = sample.metric;
  for (const double loss : sample.losses)
    if (std::isfinite(loss)) stage.last_loss = loss;
  return stage;
}

std::optional<int64_t> BreakEvenSteps(const Decision& decision, const Stage& before) {
  if (!decision.startup_s || !decision.stage || *decision.startup_s <= 0) return std::nullopt;
  const double saved_ms = before.step_ms - decision.stage->step_ms;
  if (saved_ms <= 0) return std::nullopt;
  return static_cast<int64_t>(std::ceil(*decision.startup_s * 1e3 / saved_ms));
}

}  // namespace gapless::internal
