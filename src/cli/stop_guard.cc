// SPDX-License-Identifier: Apache-2.0
// Implements the thread that ends a read-only command 100 ms after a signal to stop.
//
// The thread sleeps on a condition variable and looks for a signal every 20 ms; a signal handler must not notify it. It
// leaves by _exit(), which runs no destructors: other threads may still use what those would free. Temporary files are
// therefore removed by hand before. If the system refuses the thread, the command runs without a guard.
#include "cli/stop_guard.h"

#include <unistd.h>

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

StopGuard::StopGuard(std::function<int()> say) : say_(std::move(say)) {
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
  while (StopSignal() == 0)
    if (ended_.wait_for(lock, kBetweenLooks, [this] { return has_ended_; })) return;
  if (ended_.wait_for(lock, kTimeToNotice, [this] { return has_ended_; })) return;
  RemoveTemporaries();
  ::_exit(say_());
}

}  // namespace gapless::internal
