// SPDX-License-Identifier: Apache-2.0
// Results of one run of a command, and the few numbers that stand for it: its mean step, the ratio to another run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collect/machine.h"
#include "trial/requests.h"

namespace gapless::internal {

enum class SampleSource { kProcess, kSteps, kPattern };
std::string_view NameOf(SampleSource source);  // "process", "steps", "pattern"

// The agent's report on a fix.
struct FixReport {
  int32_t state = 0;  // 0 off, 1 on, 2 refused
  int64_t step = 0;
  std::string text{};  // JSON, see python/gapless/agent/README.md
};

// The mean and the highest of what was sampled while the process ran.
struct SeriesSummary {
  double mean = 0, highest = 0, first = 0, last = 0;
};

// A RunSample is everything that one run showed. Values that were not measured are absent or empty, never 0.
struct RunSample {
  SampleSource source = SampleSource::kProcess;
  int exit_status = 0;
  bool stopped = false;  // by us, because enough was measured
  bool timed_out = false;
  bool interrupted = false;                    // the user wants all of it to end
  int64_t wall_ns = 0;                         // wall time of the whole process
  size_t warmup = 0;                           // left out
  std::vector<int64_t> step_ns{};              // measured steps of the first rank
  int64_t warmup_ns = 0;                       // duration of the warm-up steps
  int64_t parity_ns = 0;                       // duration of those warm-up steps that RunRequest::parity had recorded
  std::vector<double> values{};                // matches of the pattern
  std::vector<ModelCall> calls{};              // calls of the first rank after warm-up, when inference is measured
  std::vector<double> losses{};                // losses of all steps of the first rank; NaN where none was seen
  std::optional<double> samples_per_second{};  // throughput of all ranks over the measured steps
  std::vector<FixReport> fixes{};              // reports of the first rank
  std::optional<int64_t> parity_events{};      // optimiser steps of the recording that `parity` asked for
  std::string failure{};                       // the exception that ended a process, without secrets
  bool out_of_memory = false;                  // which was because memory ran out
  std::vector<std::string>
      messages{};  // warnings and errors of the agent, of all processes, each once, without secrets
  std::optional<int64_t>
      host_threads{};                // threads of host operators, when an optimiser of the first rank first stepped
  std::vector<int64_t> loaders{};    // worker processes of each DataLoader that the first rank read from
  std::vector<std::string> saved{};  // files that it saved with torch.save
  std::optional<double> metric{};    // the last match of RunRequest::metric
  size_t ranks = 0;
  std::optional<double> gpu_memory_bytes{};                       // highest of the allocator, first rank
  std::map<std::string, SeriesSummary, std::less<>> telemetry{};  // by series; of several GPUs the mean
  size_t gpus = 0;
  std::optional<double> gpu_capacity_bytes{};  // memory of the smallest of the machine's GPUs
  std::string output_tail{};  // the last lines it printed, when they were not passed through, without secrets
  size_t cut_lines = 0;       // that were too long to be looked through whole (printed.h)
  HostFacts host{};
  std::optional<GitFacts> git{};
  std::string versions{};  // as the agent reports them: "python 3.11.7 torch 2.15.0"
  // Mean power of all GPUs that did work while the measured steps ran, W, by their energy counters.
  std::optional<double> gpu_watts{};
};

// Returns the errors that the agent reported, one sentence a line, to stand behind what failed because of it: "\nthe
// agent said: …". Empty: nothing.
std::string AgentWords(const RunSample& sample);

// Returns true if the process ended well, or was stopped by gapless.
bool Succeeded(const RunSample& sample);

// Returns the mean step of a process in ms, or its whole time if no steps were seen; 0: nothing was measured. The mean
// and not the median: batches from workers come in bunches, and a rollout comes once in many steps; the median step
// sees neither.
double MeanStepMs(const RunSample& sample);

// The mean step without interruptions: the few steps, one or 3 % at most, in which the program also evaluated or saved
// a checkpoint, and which a short run has by chance. Where more steps are long, as with batches that come in bunches,
// all count.
double SteadyMeanMs(std::span<const int64_t> step_ns);
double SteadyStepMs(const RunSample& sample);

// B's time over A's: of a sample where a step of B has another number of them, else of a mean step. Only the steps that
// both have count: an evaluation after the fiftieth step takes as long as many steps, and the shorter run may not come
// to it. Of matches of a pattern, the ratio of their medians.
double RatioOfTimes(const RunSample& a, const RunSample& b);

// One number for the process: the median of its steps or matches, or its whole time; in ms, but for matches.
std::optional<double> TypicalValue(const RunSample& sample);

}  // namespace gapless::internal
