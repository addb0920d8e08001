// SPDX-License-Identifier: Apache-2.0
// One process of a benchmark: a command run once, with what it measured. Samples out, no judgement.
//
// What is measured, the first of these that there is: numbers that the program prints (when a pattern is given), the
// steps that the agent sees, the time of the whole process. A program that trains on is stopped, as by Ctrl-C, once
// enough of its steps were seen.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "collect/machine.h"
#include "trial/requests.h"

namespace gapless::internal {

enum class SampleSource { kProcess, kSteps, kPattern };
std::string_view NameOf(SampleSource source);  // "process", "steps", "pattern"

struct RunRequest {
  std::vector<std::string> command;
  std::string working_folder{};  // of the command; empty: ours
  std::vector<int> cpus{};       // it may run on; empty: on ours
  std::string folder{};          // of the run, kept; empty: a temporary one, removed
  size_t warmup = 10;            // steps, or matches of the pattern, that do not count
  size_t measure = 100;          // and that do
  bool to_the_end = false;       // the program is not stopped when it has been measured
  bool whole_process = false;    // measure that, whatever else there is
  std::string pattern{};         // ECMAScript; its first group, or all of it, is a number
  double timeout_s = 0;          // 0: none
  bool inference = false;        // `measure` counts requests of a program that infers; see trial/requests.h
  bool show_output = false;      // pass the program's output through
  bool output_to_stderr = false;
  int telemetry_hz = 10;  // 0: none
  // Asked from time to time with the measured steps: is that enough? None: when `measure` are there.
  std::function<bool(std::span<const int64_t> step_ns)> enough{};
};

// The mean and the highest of what was sampled while the process ran.
struct SeriesSummary {
  double mean = 0, highest = 0, first = 0, last = 0;
};

struct RunSample {
  SampleSource source = SampleSource::kProcess;
  int exit_status = 0;
  bool stopped = false;  // by us, because enough was measured
  bool timed_out = false;
  bool interrupted = false;        // the user wants all of it to end
  int64_t wall_ns = 0;             // of the whole process
  size_t warmup = 0;               // left out
  std::vector<int64_t> step_ns{};  // measured steps of the first rank
  std::vector<double> values{};    // matches of the pattern
  std::vector<ModelCall> calls{};  // of the first rank after warm-up, when inference is measured
  std::vector<double> losses{};    // of all steps of the first rank from the first on; NaN where none was seen
  std::optional<double> samples_per_second{};  // of all ranks, over the measured steps
  size_t ranks = 0;
  std::optional<double> gpu_memory_bytes{};                       // highest of the allocator, first rank
  std::map<std::string, SeriesSummary, std::less<>> telemetry{};  // by series; of several GPUs the mean
  size_t gpus = 0;
  std::string output_tail{};  // the last lines it printed, when they were not passed through
  HostFacts host{};
  std::optional<GitFacts> git{};
  std::string versions{};  // as the agent tells them: "python 3.11.7 torch 2.15.0"
};

// An error when the command could not be run. One that failed is a sample: see exit_status.
Result<RunSample> RunOnce(const RunRequest& request);

// Did the process do what was asked: end well, or be stopped by us?
bool Succeeded(const RunSample& sample);

// One number for the process: the median of its steps or matches, or its whole time; in ms, but for matches.
std::optional<double> TypicalValue(const RunSample& sample);

}  // namespace gapless::internal
