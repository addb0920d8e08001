// SPDX-License-Identifier: Apache-2.0
// The progress of long work on standard error: on a terminal a line in place, elsewhere, as in the log of a job, a line
// now and then.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace gapless::internal {

// On a terminal nothing is shown in the first second unless asked to; the line is rewritten at most ten times a second,
// and erased by the destructor. Elsewhere a line is printed at most every thirty seconds, the first one after ten, and
// the destructor says how long it took if lines were printed that all name the same work. Callers update it only where
// the user wants to be told (Session::shows_progress).
class ProgressLine {
 public:
  ProgressLine() = default;
  // Shows its first update at once on a terminal, where the next one may take long.
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
  void Print(const std::string& text, std::string_view doing, Clock::time_point now);

  std::mutex mutex_;
  Clock::time_point start_ = Clock::now(), begun_ = start_, last_ = start_;
  bool shown_ = false;
  std::string printed_{};  // the work of the first line that was printed; empty: none was
  bool is_one_work_ = true;
};

}  // namespace gapless::internal
