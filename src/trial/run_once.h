// SPDX-License-Identifier: Apache-2.0
// Runs a command once and measures it. Samples out, no judgement.
//
// The measured numbers are the first of these that the run provides: numbers that the program prints (when a pattern is
// given), the steps that the agent sees, the time of the whole process. A program that trains on is stopped, as by
// Ctrl-C, once enough of its steps were seen.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "collect/agent_options.h"
#include "collect/launch.h"
#include "trial/run_sample.h"

namespace gapless::internal {

// A RunRequest says what is run, what is measured, and when it is enough.
struct RunRequest {
  std::vector<std::string> command;
  std::string working_folder{};          // working folder of the command; empty: ours
  std::string note_on_failure{};         // added to the error if the command fails there
  std::vector<int> cpus{};               // it may run on; empty: on ours
  std::string folder{};                  // folder of the run, kept; empty: a temporary one, removed
  size_t warmup = 10;                    // steps, or matches of the pattern, that do not count
  size_t measure = 100;                  // and that do
  bool to_the_end = false;               // the program is not stopped when it has been measured
  bool whole_process = false;            // measure that, whatever else there is
  std::string pattern{};                 // base/pattern.h; its first group, or all of it, is a number
  std::string metric{};                  // as `pattern`; the last match is a result of the run, which goes to its end
  double timeout_s = 0;                  // 0: none
  bool record = false;                   // records a few steps with the profiler, so that the folder can be analysed
  std::string step_function{};           // a step ends where it returns; empty: the agent finds out
  bool inference = false;                // `measure` counts requests of a program that infers; see trial/requests.h
  std::vector<std::string> fixes{};      // switched on in it from the beginning: "workers=4"
  std::vector<std::string> own_fixes{};  // files of the user's own fixes
  bool switch_loaders = false;           // workers of DataLoaders can be exchanged between two steps
  ParityOptions parity{};                // record the first steps; `warmup` then counts from the end of that recording
  std::vector<std::pair<std::string, std::string>> environment{};  // environment of the command, beside ours
  std::vector<Watcher*> watchers{};                                // notified of events during the run
  bool show_output = false;                                        // pass the program's output through
  bool output_to_stderr = false;
  int telemetry_hz = 10;  // 0: none
  // Asked from time to time with the measured steps, or with the latencies of requests: is that enough? None: when
  // `measure` are there.
  std::function<bool(std::span<const int64_t> step_ns)> enough{};
  bool watch_samples = false;  // the agent notes files and times of samples in the run's folder
};

// Runs the command and waits for its end. Returns an error when the command could not be run, or a pattern is
// invalid; a command that failed is a sample: see exit_status.
Result<RunSample> RunOnce(const RunRequest& request);

}  // namespace gapless::internal
