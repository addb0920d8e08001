// SPDX-License-Identifier: Apache-2.0
// The baseline of a plan: the command as it is, and how long later runs measure.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "optimize/planner_state.h"
#include "proof/kept_metric.h"

namespace gapless::internal {
namespace {

constexpr size_t kBaselines = 2;
constexpr size_t kRunsOfNoisyMetric = 4;  // of the unchanged command, to learn what its metric differs by
constexpr double kMaxMetricShare = 0.25;  // of the budget, for these
constexpr double kMaxShareOfProof = 0.4;
constexpr double kMinMeasuredS = 1;

// `file`: empty for what has no name, such as a buffer whose content a library writes itself.
std::string WarningOfSave(const std::string& file) {
  return StrCat("the command saves ", file.empty() ? "a checkpoint" : file, ": every trial writes it again");
}

}  // namespace

// The shortest measurement that is of use, which is kMinMeasuredSteps where steps are long.
double PlanState::MinMeasuredS() const {
  return std::max(kMinMeasuredS, kMinMeasuredSteps * result.before.step_ms / 1e3);
}

// Runs measure for `seconds` from now on, as far as that is shorter, and long enough to be of use.
void PlanState::ShortenRunsTo(double seconds) {
  const double kept_s = std::max(seconds, MinMeasuredS());
  if (kept_s >= measured_s) return;
  time.command_s -= measured_s - kept_s;
  time.current_s -= measured_s - kept_s;
  measured_s = kept_s;
}

// Returns a run of the unchanged command. `number` as in RunBaseline(); absent: nothing of it is recorded.
Result<RunSample> Baseline::RunUnchanged(std::optional<size_t> number) {
  plan_.Tell({.kind = PlannerEvent::Kind::kBaseline});
  auto sample = number ? plan_.runner.RunBaseline(*number) : plan_.runner.Run({});
  if (!sample) return sample;
  if (FaultOf(*sample) != Fault::kNone)
    return Fail(ErrorCode::kCommand, StrCat("the command cannot be measured: ", DescribeFault(*sample)), "",
                "it must train for some steps and end well by itself");
  if (plan_.options.has_metric) GAPLESS_TRY(CheckPrinted(*sample));
  return sample;
}

// The baselines are recorded, and begin with the same seeds where the program sets none: the two are one run for its
// metric. Others begin with seeds of their own; one that prints the same shows that the program repeats itself.
Result<void> Baseline::MeasureMetric() {
  plan_.printed = {plan_.baselines[0]};
  const auto is_noisy = [&] { return plan_.printed.size() < 2 || plan_.printed[1].metric != plan_.printed[0].metric; };
  const auto has_time = [&] {
    const double after_next = Seconds(plan_.runner.Now() - plan_.options.begun) + LongestSeconds(plan_.baselines);
    return plan_.printed.size() < 2 || after_next < kMaxMetricShare * plan_.options.budget_s;
  };
  while (plan_.printed.size() < kRunsOfNoisyMetric && is_noisy() && has_time()) {
    GAPLESS_ASSIGN(auto sample, RunUnchanged(std::nullopt));
    plan_.printed.push_back(std::move(sample));
  }
  return {};
}

// The slower of two runs is the one that fixes are compared with first, so that a lucky baseline rejects no fix.
Result<void> Baseline::Measure() {
  for (size_t i = 0; i < kBaselines; ++i) {
    GAPLESS_ASSIGN(auto sample, RunUnchanged(i));
    plan_.baselines.push_back(std::move(sample));
  }
  if (plan_.options.has_metric) GAPLESS_TRY(MeasureMetric());
  plan_.time.command_s = plan_.time.current_s = LongestSeconds(plan_.baselines);
  const RunSample& last = plan_.baselines.back();
  plan_.result.before = StageOf(last);
  plan_.current = StageOf(SteadyStepMs(plan_.baselines[0]) > SteadyStepMs(last) ? plan_.baselines[0] : last);
  plan_.startup_s = static_cast<double>(last.warmup_ns) / 1e9;
  plan_.steps = last.warmup + last.step_ns.size();
  for (const std::string& file : last.saved)
    if (std::string warning = WarningOfSave(file);
        std::ranges::find(plan_.result.warnings, warning) == plan_.result.warnings.end())
      plan_.result.warnings.push_back(std::move(warning));
  return {};
}

// The pairs of the proof are to take kMaxShareOfProof of the budget at most: long runs are measured for a shorter time.
void Baseline::FitRunsToBudget() {
  const RunSample& last = plan_.baselines.back();
  plan_.measured_s = plan_.result.before.step_ms * static_cast<double>(last.step_ns.size()) / 1e3;
  const double max_run_s = kMaxShareOfProof * plan_.options.budget_s / (2 * kPairsToProve);
  const double recorded_s = plan_.measured_s;
  plan_.ShortenRunsTo(plan_.measured_s - (plan_.time.command_s - max_run_s));
  if (plan_.measured_s < recorded_s) plan_.runner.MeasureFor(plan_.measured_s);
}

}  // namespace gapless::internal
