// SPDX-License-Identifier: Apache-2.0
// A job that only exists in memory: what each fix does to its steps and losses is said beforehand, so that what a
// planner finds can be held against the truth.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>

#include "base/strings.h"
#include "optimize/planner.h"
#include "validate/random.h"

namespace gapless::internal {

struct SimulatedFix {
  double factor = 1;                                       // on the time of a step
  std::function<double(double loss, size_t step)> loss{};  // what becomes of a loss; none: the same
  Fault fault = Fault::kNone;
  std::string refusal{};                           // it does not apply
  double samples = 1;                              // on the samples of a step
  double memory = 1;                               // on what the GPU's allocator holds
  double wall_s = 0;                               // that a run takes longer, or says so
  ParityVerdict training = ParityVerdict::kExact;  // result of a comparison with the unchanged job
};

class SimulatedJob : public JobRunner {
 public:
  explicit SimulatedJob(uint64_t seed, double noise = 0.01) : random_(seed), noise_(noise) {}
  // Key: item ("workers=4") or name; a fix without an entry has no effect.
  std::map<std::string, SimulatedFix, std::less<>> fixes{};
  size_t steps = 40, runs = 0;
  double samples = 0, memory_bytes = 0;  // samples of a step, memory of the GPU; 0: unknown
  size_t interrupt_at = SIZE_MAX;        // the user ends it with this run

  Result<RunSample> Run(const FixSet& set) override {
    if (++runs >= interrupt_at) return Fail(ErrorCode::kInterrupted, "interrupted");
    RunSample sample;
    sample.source = SampleSource::kSteps;
    sample.warmup = 10;
    double step_ms = 20 * std::exp(noise_ * random_.Normal());
    double samples_a_step = samples, memory = memory_bytes;
    for (const FixItem& item : set.items()) {
      const SimulatedFix& fix = Of(item);
      step_ms *= fix.factor, samples_a_step *= fix.samples, memory *= fix.memory;
      sample.wall_ns += static_cast<int64_t>(fix.wall_s * 1e9);
      sample.fixes.push_back({fix.refusal.empty() ? 1 : 2, 0,
                              StrCat("{\"fix\":\"", item.fix->name, "\",\"what\":\"",
                                     fix.refusal.empty() ? "changed" : fix.refusal, "\"}")});
      sample.timed_out = sample.timed_out || fix.fault == Fault::kHang;
      if (fix.fault == Fault::kCrash || fix.fault == Fault::kOutOfMemory) sample.exit_status = 1;
      if (fix.fault == Fault::kCrash) sample.failure = "ValueError: no";
      sample.out_of_memory = sample.out_of_memory || fix.fault == Fault::kOutOfMemory;
    }
    if (samples_a_step > 0) sample.samples_per_second = samples_a_step / step_ms * 1e3;
    if (memory > 0) sample.gpu_memory_bytes = memory;
    for (size_t step = 0; step < steps; ++step) {
      double loss = 2 + std::sin(static_cast<double>(step)) / 10;
      for (const FixItem& item : set.items())
        if (const auto& change = Of(item).loss) loss = change(loss, step);
      sample.losses.push_back(loss);
      const auto ns = static_cast<int64_t>(step_ms * 1e6 * std::exp(noise_ * random_.Normal()));
      if (step < sample.warmup)
        sample.warmup_ns += ns;
      else
        sample.step_ns.push_back(ns);
    }
    return sample;
  }

  // The worst of what the fixes do to the training.
  Result<ParityReport> Training(const FixSet& set, bool /*exact*/) override {
    ParityReport report{.verdict = ParityVerdict::kExact};
    for (const FixItem& item : set.items()) report.verdict = std::max(report.verdict, Of(item).training);
    report.reason = report.verdict == ParityVerdict::kOtherTraining ? "the gradients differ" : "the same";
    return report;
  }

  Result<RunSample> RunBlocks(const FixSet& set, BlockDriver& /*driver*/) override { return Run(set); }

 private:
  const SimulatedFix& Of(const FixItem& item) {
    const auto found = fixes.find(item.ToString());
    return found != fixes.end() ? found->second : fixes[std::string(item.fix->name)];
  }

  Random random_;
  double noise_;
};

}  // namespace gapless::internal
