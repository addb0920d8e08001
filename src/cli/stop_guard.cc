// SPDX-License-Identifier: Apache-2.0
// Implements the thread that ends a read-only command 100 ms after a signal to stop, or when its time is up.
//
// The thread sleeps on a condition variable and looks for a signal every 20 ms; a signal handler must not notify it. It
// leaves by _exit(), which runs no destructors: other threads may still use what those would free. Temporary files are
// therefore removed by hand before. If the system refuses the thread, the command runs without a guard.
#include "cli/stop_guard.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "base/stop_signal.h"
#include "base/temporaries.h"

namespace gapless::internal {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(20);
constexpr auto kTimeToNotice = std::chrono::milliseconds(100);

}  // namespace

StopGuard::StopGuard(std::function<int(Why)> say, std::optional<double> limit_s) : say_(std::move(say)) {
  using Clock = std::chrono::steady_clock;
  constexpr double kMaxSeconds = 1e9;  // the clock holds no more
  if (limit_s)
    end_ = Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(*limit_s, kMaxSeconds)));
  try {
    thread_ = std::thread([this] { Watch(); });
  } catch (const std::system_error&) {  // a signal then ends the command only where the command itself looks
  }
}

StopGuard::~StopGuard() {
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  ended_.notify_all();
  if (thread_.joinable()) thread_.join();
}

// Waits for a signal, then gives the command time to end by itself.
void StopGuard::Watch() {
  std::unique_lock lock(mutex_);
  const auto is_late = [this] { return end_ && std::chrono::steady_clock::now() >= *end_; };
  while (StopSignal() == 0 && !is_late())
    if (ended_.wait_for(lock, kBetweenLooks, [this] { return has_ended_; })) return;
  const Why why = StopSignal() == 0 ? Why::kTime : Why::kSignal;
  if (why == Why::kSignal && ended_.wait_for(lock, kTimeToNotice, [this] { return has_ended_; })) return;
  RemoveTemporaries();
  ::_exit(say_(why));
}

}  // namespace gapless::internal
