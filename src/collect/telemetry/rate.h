// SPDX-License-Identifier: Apache-2.0
// From totals that only grow to rates.
#pragma once

#include <cstdint>
#include <limits>

namespace gapless::internal {

// A RateMeter returns the growth of a total per second since the last call. NaN at the first call, when no time
// has passed, and when the total has become smaller (a counter that was reset).
class RateMeter {
 public:
  double PerSecond(double total, int64_t mono_ns) {
    const double grown = total - total_, seconds = static_cast<double>(mono_ns - mono_ns_) * 1e-9;
    const bool valid = known_ && grown >= 0 && seconds > 0;
    total_ = total, mono_ns_ = mono_ns, known_ = true;
    return valid ? grown / seconds : std::numeric_limits<double>::quiet_NaN();
  }

 private:
  double total_ = 0;
  int64_t mono_ns_ = 0;
  bool known_ = false;
};

}  // namespace gapless::internal
