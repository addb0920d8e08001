// SPDX-License-Identifier: Apache-2.0
// Runs one command with everything that watches it, and leaves a run folder.
//
// The command keeps its terminal, its signals and its exit status. The launcher never stops somebody's training: it
// passes signals on, and when the launcher is killed the command goes on, and what was recorded until then is in the
// folder. A command that is run for a measurement (`ends_with_us`) ends with the launcher, and so does everything below
// it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "collect/control.h"
#include "collect/manifest.h"
#include "collect/ring_keeper.h"
#include "collect/run_folder.h"

namespace gapless::internal {

// A Watcher is a task beside the command, called regularly from the launcher's loop, in its thread. A watcher must
// not block: signals and rings wait meanwhile.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void OnStart(int64_t /*pid*/) {}
  virtual void OnRecord(AgentProcess& /*process*/, const wire::RingRecord& /*record*/) {}
  // About every 50 ms. What is put into `events` goes into the manifest.
  virtual void OnTick(RingKeeper& /*rings*/, ControlBlock& /*control*/, std::vector<RunEvent>& /*events*/) {}
};

struct LaunchOptions {
  std::vector<std::string> command;
  std::string folder{};          // folder of the run; empty: the first free default
  std::string working_folder{};  // working folder of the command; empty: ours
  std::vector<int> cpus{};       // the command may run on; empty: on ours
  std::string agent_options{};   // JSON, as the agent takes it
  std::vector<std::pair<std::string, std::string>>
      environment{};           // environment of the command, added to ours or replacing it
  bool cupti_always = false;   // the native collector in Python processes, too
  int telemetry_hz = 0;        // 0: none
  bool ends_with_us = false;   // a signal to stop, or our end, ends the command and all below it
  bool shared_folder = false;  // others may write in the run's folder
  bool output_to_stderr = false;
  std::string output_path{};  // a file that takes the command's output and errors; empty: none
  std::vector<std::string> missing{};
  std::vector<Watcher*> watchers{};
};

// A LaunchResult is how the command ended and what its processes reported.
struct LaunchResult {
  std::string folder;  // as the user would type it
  std::string path;    // absolute
  int exit_status = 0;
  int signal = 0;
  int told_to_stop = 0;  // the signal by which the launcher was asked to stop meanwhile; 0: none
  int64_t wall_ns = 0;   // wall time of the command, by a clock that is never set
  Manifest manifest;     // its `incomplete` says what could not be written
  std::vector<std::unique_ptr<AgentProcess>> processes;
};

// An error means that the command was not run; `failure_status` is then what to exit with (125, 126 or 127).
Result<LaunchResult> Launch(const LaunchOptions& options, int* failure_status);

// Returns a sentence for the user if the command runs Python in a way that keeps the agent out (-I, -E, -S), else
// "".
std::string KeepsAgentOut(const std::vector<std::string>& command);

}  // namespace gapless::internal
