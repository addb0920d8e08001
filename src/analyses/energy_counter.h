// SPDX-License-Identifier: Apache-2.0
// The mean power that an energy counter shows.
//
// A counter is read more often than it changes. Its mean power is that between its first change and its last, which are
// moments at which its value was new; over fewer than ten updates these two weigh too much.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace gapless::internal {

class EnergyCounter {
 public:
  // Takes a reading, in order of time. A counter that counts anew, because the driver was loaded again, begins anew.
  void Take(int64_t ts_ns, double joules) {
    if (joules_ && joules < *joules_) changes_ = 0;
    if (joules_ && joules > *joules_) {
      if (changes_++ == 0) first_ns_ = ts_ns, first_joules_ = joules;
      last_ns_ = ts_ns;
    }
    joules_ = joules;
  }
  bool is_known() const { return joules_.has_value(); }
  // NaN: it changed ten times or less.
  double Watts() const {
    if (changes_ <= kFewestUpdates) return std::numeric_limits<double>::quiet_NaN();
    return (*joules_ - first_joules_) / (static_cast<double>(last_ns_ - first_ns_) / 1e9);
  }

 private:
  static constexpr int64_t kFewestUpdates = 10;
  std::optional<double> joules_{};
  int64_t first_ns_ = 0, last_ns_ = 0, changes_ = 0;
  double first_joules_ = 0;
};

}  // namespace gapless::internal
