// SPDX-License-Identifier: Apache-2.0
// Starts a thread that runs `work`, or returns an error where the system has none left: std::thread throws there.
#pragma once

#include <system_error>
#include <thread>
#include <utility>

#include "base/result.h"
#include "base/strings.h"

namespace gapless::internal {

template <class Work>
Result<void> StartThread(std::thread& thread, Work work) {
  try {
    thread = std::thread(std::move(work));
  } catch (const std::system_error& error) {
    return Fail(ErrorCode::kEnvironment, StrCat("no thread can be started: ", error.code().message()), "",
                "ulimit -u prints how many processes and threads you may have");
  }
  return {};
}

}  // namespace gapless::internal
