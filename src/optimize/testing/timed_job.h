// SPDX-License-Identifier: Apache-2.0
// A simulated job with a clock of its own: runs take a start, steps and an end, the machine may be busy at times, and
// fixes may be switched between steps. A planner's use of its budget can so be tested in milliseconds.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "optimize/testing/simulated_job.h"

namespace gapless::internal {

class TimedJob : public SimulatedJob {
 public:
  explicit TimedJob(uint64_t seed) : SimulatedJob(seed), noise_(seed + 1) {}

  double startup_s = 3, step_ms = 20;
  size_t max_steps = 5000;                        // the program ends by itself after them
  double run_noise = 0.015, step_noise = 0.05;    // standard deviations of the logarithm
  std::function<double(double at_s)> load{};      // factor on all times at a moment; none: 1
  std::function<double(const FixSet&)> beside{};  // factor on the steps of a set, beside those of its fixes

  Clock::time_point Now() const override { return now_; }
  void EndBy(Clock::time_point when) override { end_by_ = when; }
  void CutAbove(double step_ms) override { cut_ms_ = step_ms; }
  void MeasureFor(double seconds) override { max_measured_s_ = seconds; }
  void Pass(double seconds) {
    now_ += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }
  double at_s() const { return std::chrono::duration<double>(now_.time_since_epoch()).count(); }

  Result<RunSample> Run(const FixSet& set) override {
    auto sample = SimulatedJob::Run(set);  // losses, reports of fixes and faults
    if (!sample || sample->exit_status != 0) return sample;
    Begin(set, *sample);
    const double run_factor = std::exp(run_noise * noise_.Normal());
    double measured_s = 0;
    for (size_t step = 0; step < max_steps && !TimedOut(*sample); ++step) {
      const double ms = StepMs(set) * run_factor;
      Pass(ms / 1e3);
      if (step < sample->warmup) continue;
      measured_s += ms / 1e3;
      sample->step_ns.push_back(static_cast<int64_t>(ms * 1e6));
      const size_t steps = sample->step_ns.size();
      const bool is_cut = cut_ms_ > 0 && measured_s > 1 && measured_s * 1e3 / static_cast<double>(steps) > cut_ms_;
      if (steps >= kMinMeasuredSteps && (measured_s > max_measured_s_ || (steps >= 50 && measured_s > 1))) {
        sample->stopped = true;
        break;
      }
      if (is_cut) break;
    }
    return End(*sample);
  }

  Result<RunSample> RunBlocks(const FixSet& set, BlockDriver& driver) override {
    auto sample = SimulatedJob::Run(set);
    Begin(set, *sample);
    for (size_t step = 0; step < max_steps && !driver.IsDone() && !TimedOut(*sample); ++step) {
      const auto arm = driver.ArmAt(static_cast<int64_t>(step));
      const double ms = StepMs(set) * (arm ? FactorOf(driver.arms()[*arm].fix) : 1);
      Pass(ms / 1e3);
      driver.AddStep(static_cast<int64_t>(step), static_cast<int64_t>(ms * 1e6));
      sample->step_ns.push_back(static_cast<int64_t>(ms * 1e6));
    }
    return End(*sample);
  }

  double FactorOf(const std::string& item) {
    const auto found = fixes.find(item);
    return found == fixes.end() ? 1 : found->second.factor;
  }
  // Speedup of a set over none, without noise.
  double TrueSpeedup(const FixSet& set) {
    double factor = beside ? beside(set) : 1;
    for (const FixItem& item : set.items()) factor *= FactorOf(item.ToString());
    return 1 / factor;
  }

 private:
  double Load() const { return load ? load(at_s()) : 1; }
  double StepMs(const FixSet& set) {
    return step_ms / TrueSpeedup(set) * Load() * std::exp(step_noise * noise_.Normal());
  }
  bool TimedOut(RunSample& sample) const {
    sample.timed_out = sample.timed_out || (end_by_ && now_ >= *end_by_);
    return sample.timed_out;
  }
  void Begin(const FixSet& set, RunSample& sample) {
    begun_ = now_;
    double extra_s = 0;
    for (const FixItem& item : set.items())
      if (const auto found = fixes.find(item.ToString()); found != fixes.end()) extra_s += found->second.wall_s;
    const double all_s = (startup_s + extra_s) * Load() * std::exp(0.05 * noise_.Normal());
    Pass(end_by_ ? std::min(all_s, std::max(0.0, std::chrono::duration<double>(*end_by_ - now_).count())) : all_s);
    sample.step_ns.clear();
    sample.warmup = 5;
  }
  Result<RunSample> End(RunSample& sample) {
    Pass(0.3);
    sample.wall_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now_ - begun_).count();
    return sample;
  }

  Random noise_;
  Clock::time_point now_{}, begun_{};
  std::optional<Clock::time_point> end_by_{};
  double cut_ms_ = 0, max_measured_s_ = 2;
};

}  // namespace gapless::internal
