// SPDX-License-Identifier: Apache-2.0
// Transactions that outlive a restart of the server.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

#include "store/backend.h"

namespace gapless::internal {

// Does `work` in a transaction. Where the server is lost it is done again from its beginning: so `work`
// done twice must leave the same as done once.
template <class T>
Result<T> InTransaction(Connection& connection, const std::function<Result<T>()>& work) {
  constexpr auto kFirstPause = std::chrono::milliseconds(100), kLongestPause = std::chrono::milliseconds(2000);
  constexpr int kAttempts = 12;  // about 15 s
  std::chrono::milliseconds pause = kFirstPause;
  for (int attempt = 1;; ++attempt) {
    Result<T> outcome = [&]() -> Result<T> {
      if (connection.lost()) GAPLESS_TRY(connection.Reconnect());
      GAPLESS_TRY(connection.Begin(Purpose::kWrite));
      Result<T> done = work();
      if (!done) return done;
      GAPLESS_TRY(connection.Commit());
      return done;
    }();
    if (outcome) return outcome;
    connection.Rollback();
    if (!connection.lost() || attempt == kAttempts) return outcome;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
}

}  // namespace gapless::internal
