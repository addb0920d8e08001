// SPDX-License-Identifier: Apache-2.0
// A ClockMap converts CUPTI's clock to unix time, both in ns. Both clocks were read together now and then; between
// two readings the difference is taken to change evenly, before the first and after the last to stay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gapless::internal::cupti {

class ClockMap {
 public:
  // Readings come in the order of the file; those that do not go on in time on both clocks are left out.
  void Add(int64_t cupti_ns, int64_t unix_ns);
  bool empty() const { return readings_.empty(); }
  // Returns the unix time of a time of CUPTI; without readings the time itself. Returns kAbsent for 0, and for
  // times that are later than 2096 on either clock. Constant time for times that rise, else O(log n). Not for
  // several threads at once, although const: it remembers the last interval.
  int64_t ToUnix(uint64_t cupti_ns) const;

 private:
  struct Reading {
    int64_t cupti_ns, unix_ns;
  };
  std::vector<Reading> readings_;
  mutable size_t last_ = 0;  // the interval used last: records come almost in order
};

}  // namespace gapless::internal::cupti
