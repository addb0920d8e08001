// SPDX-License-Identifier: Apache-2.0
// Ends a read-only command that has not reacted to a signal to stop within 100 ms, or that takes longer than it may.
//
// Reading looks at the flag between blocks, but an analysis is one sweep after another over a whole recording, and
// would have to look at it in each of its loops. A command that reads, computes and writes whole files at its end has
// nothing that must be finished: it may be ended anywhere, once its unfinished files are removed. Commands that start
// programs or keep a history end by themselves and have no such guard.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace gapless::internal {

// Guards one command for as long as it exists. Its thread is joined by the destructor.
class StopGuard {
 public:
  // `say` prints that the command was interrupted, or took too long, and returns the exit status; called at most once,
  // from another thread, before the process ends. `limit_s`: how long the command may take; none: as long as it likes.
  enum class Why : uint8_t { kSignal, kTime };
  explicit StopGuard(std::function<int(Why)> say, std::optional<double> limit_s = {});
  // To be called when the command has ended by itself.
  ~StopGuard();
  StopGuard(const StopGuard&) = delete;
  StopGuard& operator=(const StopGuard&) = delete;

 private:
  void Watch();

  std::function<int(Why)> say_;
  std::optional<std::chrono::steady_clock::time_point> end_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = false;
  std::thread thread_;
};

}  // namespace gapless::internal
