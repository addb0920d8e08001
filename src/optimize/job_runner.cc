// SPDX-License-Identifier: Apache-2.0
// Implements Runner with real processes: builds the request for a set of fixes, limits its time, and makes the
// recordings that the loss check needs.
//
// A run measures until it has enough: the requested steps and at least one second, or, for long steps, fewer steps
// once the limit of measured time is reached, but kMinMeasuredSteps at least. A run that is to be cut ends after three
// steps that together take a second, if they are clearly slower. The time limit of a run follows the longest successful
// one, so that a hang ends soon without a limit from the user.
//
// In a program that infers, the latencies of requests stand in the place of the times of steps.
#include "optimize/job_runner.h"

#include <algorithm>
#include <numeric>

#include "collect/files.h"

namespace gapless::internal {
namespace {

constexpr int64_t kMinMeasuredNs = 1'000'000'000;
constexpr size_t kMinStepsToCut = 3;
// A run hangs if it takes kHangFactor times as long as the longest successful run; compiling may take kCompileLimitS.
constexpr double kHangFactor = 5, kMinLimitS = 30, kCompileLimitS = 300, kMinLeftS = 1;

}  // namespace

namespace {

// The time between two requests does not count, nor how many rows a request has: fixes change neither.
void TakeLatencies(RunSample& sample) {
  sample.step_ns = LatenciesOf(sample.calls, sample.stopped);
  sample.warmup = 0;
  sample.samples_per_second.reset();
}

}  // namespace

RunRequest ProcessRunner::RequestFor(const FixSet& set) const {
  RunRequest request = job_.request;
  request.fixes = set.Names();
  request.own_fixes = set.OwnFiles();
  request.environment = set.Environment(job_.context);
  // Short steps are measured for longer than requested, long steps for fewer.
  const size_t least = std::min(request.measure, kMinMeasuredSteps);
  request.measure = cut_above_ns_ > 0 ? std::min(least, kMinStepsToCut) : least;
  request.enough = [least, steps = job_.request.measure, most_ns = max_measured_ns_,
                    cut_ns = cut_above_ns_](std::span<const int64_t> step_ns) {
    const int64_t all_ns = std::accumulate(step_ns.begin(), step_ns.end(), int64_t{0});
    if (cut_ns > 0 && all_ns >= kMinMeasuredNs && SteadyMeanMs(step_ns) * 1e6 > cut_ns) return true;
    return step_ns.size() >= least && (all_ns >= most_ns || (step_ns.size() >= steps && all_ns >= kMinMeasuredNs));
  };
  if (request.timeout_s <= 0 && longest_s_ > 0)
    request.timeout_s = std::max(kMinLimitS, kHangFactor * longest_s_) + (set.Has("compile") ? kCompileLimitS : 0);
  // However little time is left, a run gets a second: 0 would mean no limit.
  if (end_by_) {
    const double left_s = std::max(kMinLeftS, std::chrono::duration<double>(*end_by_ - Clock::now()).count());
    request.timeout_s = request.timeout_s > 0 ? std::min(request.timeout_s, left_s) : left_s;
  }
  return request;
}

Result<RunSample> ProcessRunner::Start(const RunRequest& request) {
  ++runs_;
  auto sample = RunOnce(request);
  if (!sample) return sample;
  if (sample->interrupted) return Fail(ErrorCode::kInterrupted, "interrupted");
  if (request.inference) TakeLatencies(*sample);
  if (Succeeded(*sample)) longest_s_ = std::max(longest_s_, static_cast<double>(sample->wall_ns) / 1e9);
  return sample;
}

Result<RunSample> ProcessRunner::Run(const FixSet& set) { return Start(RequestFor(set)); }

// A run of the command as it is for a recording alone.
Result<RunSample> ProcessRunner::RunForParity(const ParityOptions& options) {
  RunRequest request = RequestFor({});
  request.parity = options;
  request.warmup = 0;
  request.measure = 1;
  request.enough = nullptr;
  return Start(request);
}

// Prepares the check of losses or of outputs.
Result<void> ProcessRunner::PrepareParity() {
  const auto run = [this](const ParityOptions& options) { return RunForParity(options); };
  if (job_.request.inference) {
    auto outputs = OutputParity::Make(job_.outputs, run);
    GAPLESS_TRY(outputs);
    outputs_.emplace(std::move(*outputs));
    return {};
  }
  auto parity = TrainingParity::Make(job_.parity, run);
  GAPLESS_TRY(parity);
  parity_.emplace(std::move(*parity));
  return {};
}

// The second run is the probe that most claims are held against.
Result<RunSample> ProcessRunner::RunBaseline(size_t number) {
  if (!parity_ && !outputs_) GAPLESS_TRY(PrepareParity());
  RunRequest request = RequestFor({});
  if (outputs_) {
    request.parity = number == 0 ? outputs_->BaselineOptions() : outputs_->ProbeOptions(Precision::kFp32);
    return Start(request);
  }
  if (number == 0) request.parity = parity_->BaselineOptions();
  if (number == 1 && parity_->WhyNoBaseline().empty()) request.parity = parity_->ProbeOptions(Precision::kFp32);
  return Start(request);
}

Result<RunSample> ProcessRunner::RunFirst(const FixSet& set) {
  RunRequest request = RequestFor(set);
  if (outputs_) request.parity = outputs_->CandidateOptions();
  if (parity_ && parity_->WhyNoBaseline().empty()) request.parity = parity_->CandidateOptions();
  return Start(request);
}

Result<ParityReport> ProcessRunner::Training(const FixSet& set, bool exact) {
  if (outputs_) return outputs_->Judge(set.Claim());
  if (!parity_) return ParityReport{.reason = "the command as it is was not recorded"};
  if (set.Loosest() == Safety::kTraining && !exact)
    return ParityReport{.reason = "it may train something else, and so it was not compared"};
  return parity_->Judge(set.Claim(), exact);
}

// Runs one process in which the driver switches fixes. Loaders must be made replaceable from the start if any arm
// changes them.
Result<RunSample> ProcessRunner::RunBlocks(const FixSet& set, BlockDriver& driver) {
  RunRequest request = RequestFor(set);
  request.switch_loaders = std::ranges::any_of(driver.arms(), [](const BlockArm& arm) {
    const Fix* fix = FindFixWithTrial(std::string_view(arm.fix).substr(0, arm.fix.find('=')));
    return fix != nullptr && fix->trial.needs.loader;
  });
  request.measure = 1;  // and then as many as the driver wants
  request.enough = [&](std::span<const int64_t>) { return driver.IsDone(); };
  request.watchers.push_back(&driver);
  return Start(request);
}

}  // namespace gapless::internal
