// SPDX-License-Identifier: Apache-2.0
// A progress line on standard error for long work.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace gapless::internal {

// Shows nothing in the first second unless asked to, is rewritten in place at most ten times a second, and is erased by
// the destructor. Callers update it only where standard error is a terminal.
class ProgressLine {
 public:
  ProgressLine() = default;
  // Shows its first update at once, where the next one may take long.
  struct AtOnce {};
  explicit ProgressLine(AtOnce at_once);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  // "reading trace.json  42 % of 1.02 GB"; `total` 0: unknown. `amount` puts a number of the work's own into words.
  // From any thread.
  void Update(std::string_view doing, std::string_view what, uint64_t done, uint64_t total,
              std::string (*amount)(uint64_t));

 private:
  using Clock = std::chrono::steady_clock;
  std::mutex mutex_;
  Clock::time_point start_ = Clock::now(), last_ = start_;
  bool shown_ = false;
};

}  // namespace gapless::internal
