// SPDX-License-Identifier: Apache-2.0
// Signals while a command runs. What is sent to the launcher alone (kill, a scheduler's time limit) is passed on; what
// the terminal sends (Ctrl-C, Ctrl-\) reaches the command by itself, because it stays in the same process group, and is
// only waited out. Stopping (Ctrl-Z) is left to the system: both stop, both go on.
#pragma once

#include <csignal>

#include "collect/child.h"

namespace gapless::internal {

class SignalRelay {
 public:
  static constexpr int kTickMs = 50;  // how long a launcher waits for a signal before it looks at the rest of its work

  // Blocks the signals in this thread, so in all threads it starts from now on. One at a time.
  SignalRelay();
  ~SignalRelay();
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;

  // The signal by which this program was asked to stop since; 0: none.
  int stop_signal() const { return stop_signal_; }
  // The mask from before, for the command.
  const sigset_t& previous_mask() const { return previous_; }
  // Waits at most `most_ms` for a signal, SIGCHLD among them, and passes it on to `child` where that is due. One that
  // asks this program to stop is noted (base/stop_signal.h), and from then on each call goes on with ending a child
  // that `ends_with_us`, with all below it.
  void Wait(int most_ms, Child& child, bool ends_with_us);

 private:
  sigset_t waited_{}, previous_{};
  int stop_signal_ = 0;
  int noted_before_ = 0;  // a stop signal that came before these were blocked, until it is passed on
};

}  // namespace gapless::internal
