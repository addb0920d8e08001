// SPDX-License-Identifier: Apache-2.0
// Keeps the noted signal in two atomics, which is safe in a handler.
#include "base/stop_signal.h"

namespace gapless::internal {
namespace {

std::atomic<int> noted_signal{0};
std::atomic<bool> stop_flag{false};

}  // namespace

// The number is stored first: whoever sees the flag may ask for it.
void NoteStopSignal(int signal) {
  int none = 0;
  noted_signal.compare_exchange_strong(none, signal);
  stop_flag.store(true);
}

int StopSignal() { return noted_signal.load(); }

const std::atomic<bool>* StopFlag() { return &stop_flag; }

bool IsIgnored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace gapless::internal
