// SPDX-License-Identifier: Apache-2.0
// A Child is one child process, started so that it notices as little as possible: the same terminal, the same
// process group, the signal dispositions and the mask that the launcher itself was started with. Its destructor
// neither ends nor waits for the process; if this program is killed, a child that `ends_with_us` ends, too.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "collect/launcher_watch.h"
#include "collect/telemetry/process_tree.h"

namespace gapless::internal {

// Exit statuses of the launcher when the command did not run, as shells and timeout(1) use them.
inline constexpr int kNotExecutable = 126, kNotFound = 127, kOwnFailure = 125;

struct ChildOptions {
  std::vector<std::string> argv;                                 // argv[0] is looked up on PATH
  std::vector<std::pair<std::string, std::string>> environment;  // added to ours, or replacing
  bool output_to_stderr = false;                                 // its standard output goes where its errors go
  std::string output_path{};                                     // a file that takes both instead; empty: none
  std::string working_folder{};                                  // empty: ours
  std::vector<int> cpus{};                                       // it may run on; empty: on ours
  sigset_t mask{};                                               // signals it starts with blocked
  bool ends_with_us = false;                                     // and all below it, also if we are killed
};

class Child {
 public:
  // Starts the command. Returns an error of kCommand when it cannot be executed: `exec_failure` then has 126 or
  // 127.
  static Result<Child> Start(const ChildOptions& options, int* exec_failure);

  pid_t pid() const { return pid_; }
  // Returns its status once it has ended, as a shell reports it (128 + N for signal N); absent while it runs. Does not
  // block.
  std::optional<int> Ended();
  // The signal that ended it; 0: none.
  int signal() const { return signal_; }
  // Ends it and all below it: three seconds after the first call those that still run get SIGKILL. To be called again
  // and again until it returns true: nothing of it runs any longer. `signal` goes to what is below it; it has its own
  // already.
  bool End(int signal);
  // Does so until nothing runs any longer.
  void EndAndWait(int signal);

 private:
  Child(pid_t pid, LauncherWatch watch) : pid_(pid), watch_(std::move(watch)) {}
  pid_t pid_;
  LauncherWatch watch_;
  std::optional<ProcessTree> ending_;  // what is to end; none until End() was called
  int64_t kill_at_ns_ = 0;             // by CLOCK_MONOTONIC
  bool told_all_ = false;              // what is below it had the signal
  std::optional<int> status_;
  int signal_ = 0;
};

}  // namespace gapless::internal
