// SPDX-License-Identifier: Apache-2.0
// The signal that asks this program to stop, whoever received it first: a handler, or a launcher that waits for signals
// while a command runs. Every verb ends with 128 plus its number.
#pragma once

#include <atomic>
#include <csignal>

namespace gapless::internal {

// The signals that a terminal, a scheduler or a person sends to have a program stop.
inline constexpr int kStopSignals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

constexpr bool IsStopSignal(int signal) {
  for (const int stop : kStopSignals)
    if (signal == stop) return true;
  return false;
}

// Notes that the program is to stop. Safe in a signal handler and from any thread; the first signal counts.
void NoteStopSignal(int signal);
// Returns the signal that was noted first; 0 until then. Safe from any thread.
int StopSignal();
// Returns the flag that is set with the signal, for loops that ask often. It lives as long as the program.
const std::atomic<bool>* StopFlag();
// Returns true if this process ignores the signal, as `nohup` has it ignore SIGHUP: then it does not stop for it.
bool IsIgnored(int signal);

}  // namespace gapless::internal
