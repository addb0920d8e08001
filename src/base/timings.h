// SPDX-License-Identifier: Apache-2.0
// Measures where the program spends its own time, part by part. Off until EnableTimings() is called; a part then costs
// two clock reads. All functions may be called from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gapless::internal {

struct Timing {
  std::string part{}, name{};  // "analysis", "idle"
  int64_t calls = 0;
  int64_t ns = 0;           // wall time of the calls, without the parts that they contain
  int64_t fresh_bytes = 0;  // pages that the system gave to the thread meanwhile: new memory, or files mapped
};

// Turns measuring on, for parts that begin from now on. It cannot be turned off again.
void EnableTimings();
// Returns all parts so far, the longest first; empty if timings are not enabled.
std::vector<Timing> CollectTimings();

// Times the scope that it stands in. Scopes of one thread nest, and each counts its own time only.
class TimedPart {
 public:
  // An empty `part` is not reported: its time is taken out of the part around it, as a wait for another thread is.
  TimedPart(std::string_view part, std::string_view name);
  ~TimedPart();
  TimedPart(const TimedPart&) = delete;
  TimedPart& operator=(const TimedPart&) = delete;

 private:
  struct Amount {
    int64_t ns = 0, fresh_bytes = 0;
  };
  static Amount Now();

  std::string_view part_, name_;
  bool is_on_;
  Amount start_{}, inner_{};  // `inner_`: the parts inside this one
  TimedPart* around_ = nullptr;
};

}  // namespace gapless::internal
