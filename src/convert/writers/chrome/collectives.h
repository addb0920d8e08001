// SPDX-License-Identifier: Apache-2.0
// A Collectives object finds the row of table collective that belongs to a GPU operation or a host slice. Both
// come ordered by time; one object serves one of the two kinds.
#pragma once

#include <vector>

#include "convert/writers/chrome/events.h"
#include "trace/trace.h"

namespace gapless::internal::chrome {

class Collectives {
 public:
  explicit Collectives(const Trace& trace) : trace_(trace), used_(trace.collectives.size()) {}

  // Adds the arguments of its collective to the event of the GPU operation, or of the slice; times must not go back.
  void AddArgs(GpuOpId op, Events& out);
  void AddArgs(SliceId slice, Events& out);

 private:
  template <class Fits>
  void AddFirst(int64_t ts_ns, Fits fits, Events& out);
  void Write(size_t row, Events& out) const;

  const Trace& trace_;
  std::vector<bool> used_;  // several rows of one time may look alike: each is given once
  size_t at_ = 0;
};

}  // namespace gapless::internal::chrome
