// SPDX-License-Identifier: Apache-2.0
// Ends a read-only command that has not reacted to SIGINT or SIGTERM within 100 ms.
//
// Reading looks at the wish to stop between blocks, but an analysis is one sweep after another over a whole recording,
// and would have to ask in each of its loops. A verb that reads, computes and writes whole files at its end has nothing
// that must be finished: it may be ended anywhere, once its unfinished files are removed. Verbs that start programs or
// keep a history end by themselves and have no such guard.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace gapless::internal {

class StopGuard {
 public:
  // `say` prints that the verb was interrupted and gives the exit status; called at most once, from another thread,
  // before the process ends.
  explicit StopGuard(std::function<int()> say);
  // The verb has ended by itself.
  ~StopGuard();
  StopGuard(const StopGuard&) = delete;
  StopGuard& operator=(const StopGuard&) = delete;

 private:
  void Watch();

  std::function<int()> say_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = false;
  std::thread thread_;
};

}  // namespace gapless::internal
