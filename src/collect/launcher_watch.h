// SPDX-License-Identifier: Apache-2.0
// Ends a command and all below it with the launcher, however that ends.
//
// A command that is run for a measurement may be a shell or a launcher whose children do the work, and these have to
// end with it: a training that goes on unseen keeps the processors from the next measurement.
#pragma once

#include <sys/types.h>

namespace gapless::internal {

class ProcessTree;

// Seconds that processes that were asked to end may take before they get SIGKILL.
inline constexpr int kSecondsUntilSigkill = 3;

// Sends the signal (0: none) to each process of the tree below `root` that runs, those that left it since the last call
// included. Returns how many do; zombies, which have ended, do not count.
size_t SignalTree(ProcessTree& tree, pid_t root, int signal);

// A LauncherWatch is a process that ends a command's tree if this process ends without it, as by SIGKILL: with SIGTERM,
// and with SIGKILL three seconds later. It holds no files of ours and takes no signals but SIGKILL.
class LauncherWatch {
 public:
  // Watches over nothing.
  LauncherWatch() = default;
  // Starts the process. Where that fails, nothing is watched, and the command runs all the same.
  explicit LauncherWatch(pid_t root);
  // Ends the process; the command is left alone.
  ~LauncherWatch();
  LauncherWatch(LauncherWatch&& other) noexcept;
  LauncherWatch& operator=(LauncherWatch&& other) noexcept;
  LauncherWatch(const LauncherWatch&) = delete;
  LauncherWatch& operator=(const LauncherWatch&) = delete;

 private:
  pid_t pid_ = -1;
  int life_ = -1;  // the watch reads the other end: a byte says that all is well, an end without one that we are gone
};

}  // namespace gapless::internal
