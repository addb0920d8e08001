// SPDX-License-Identifier: Apache-2.0
// Keeps the memory of a large run small while it is analysed: every tenth of a second the pages of its mapped files are
// given back. An analysis reads one recording after the other, so most of them are not needed again soon, and what is
// comes from the cache of the system.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "trace/run.h"

namespace gapless::internal {

class PageKeeper {
 public:
  // Does nothing for runs whose files would fit. `run` must outlive it.
  explicit PageKeeper(const Run& run);

 private:
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // is stopped and joined first
};

}  // namespace gapless::internal
