// SPDX-License-Identifier: Apache-2.0
// Blocks the signals of a launcher and forwards those that were sent to the launcher alone. Signals are taken by
// waiting for them, so no code runs in a handler. A stop signal that a handler noted before is passed on to the command
// as soon as that runs. A signal that the command itself sent is not sent back to it.
#include "collect/signals.h"

#include <atomic>
#include <csignal>
#include <ctime>
#include <utility>

#include "base/stop_signal.h"

namespace gapless::internal {
namespace {

constexpr int kRelayed[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGCONT};
// The terminal sends these to the whole foreground group.
constexpr bool FromTerminal(const siginfo_t& info) {
  return info.si_code == SI_KERNEL &&
         (info.si_signo == SIGINT || info.si_signo == SIGQUIT || info.si_signo == SIGHUP || info.si_signo == SIGWINCH);
}

std::atomic<bool> had_command{false};  // a command has had the stop signal, so a later one does not get it again

}  // namespace

SignalRelay::SignalRelay() {
  std::signal(SIGCHLD, SIG_DFL);  // whoever ignores it gets no status of children
  sigemptyset(&waited_);
  for (const int signal : kRelayed) sigaddset(&waited_, signal);
  sigaddset(&waited_, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &waited_, &previous_);
  if (!had_command) noted_before_ = StopSignal();
}

SignalRelay::~SignalRelay() {
  // A signal that came too late to be passed on must not end the launcher before it has written what it knows.
  const timespec none{};
  for (int signal = 0; (signal = sigtimedwait(&waited_, nullptr, &none)) > 0;)
    if (IsStopSignal(signal) && !IsIgnored(signal)) NoteStopSignal(signal);
  pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
}

void SignalRelay::Wait(int most_ms, Child& child, bool ends_with_us) {
  if (const int signal = std::exchange(noted_before_, 0); signal != 0) {
    stop_signal_ = signal;
    had_command = true;
    if (!ends_with_us) ::kill(child.pid(), signal);
  }
  const timespec limit{.tv_sec = most_ms / 1000, .tv_nsec = (most_ms % 1000) * 1'000'000L};
  siginfo_t info{};
  const int signal = sigtimedwait(&waited_, &info, &limit);
  if (IsStopSignal(signal) && !IsIgnored(signal)) {
    NoteStopSignal(signal);
    stop_signal_ = StopSignal();
    had_command = true;
  }
  // Before the signal is passed on: what is below a child that ends at once could not be found any longer.
  if (ends_with_us && stop_signal_ != 0) child.End(stop_signal_);
  if (signal > 0 && signal != SIGCHLD && !FromTerminal(info) && info.si_pid != child.pid()) ::kill(child.pid(), signal);
}

}  // namespace gapless::internal
