// SPDX-License-Identifier: Apache-2.0
// The parts of the host's time in each step, from the agent's records, one process at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wire/agent_ring.h"

namespace gapless::internal {

struct StepParts {
  int64_t step = 0, ts_ns = 0, dur_ns = 0;
  int64_t wait_ns = 0;     // for the next batch
  int64_t gc_ns = 0;       // Python's garbage collection
  int64_t save_ns = 0;     // torch.save
  int64_t compile_ns = 0;  // torch.compile
  uint16_t flags = 0;      // wire::kStep…
};

// A StepAccount sums up the parts of the step that is under way.
class StepAccount {
 public:
  // Takes the next record. True: a step has ended, and is in last().
  bool Add(const wire::RingRecord& record);
  const StepParts& last() const { return last_; }

 private:
  StepParts open_, last_;
};

// A StepHistory holds the durations of the steps before, the newest kKept of them; below kEnough, quantiles say
// too little.
class StepHistory {
 public:
  static constexpr size_t kKept = 1000, kEnough = 100;

  void Add(int64_t dur_ns);
  size_t size() const { return durations_.size(); }
  // The value below which `share` of the durations lie; 0 without any.
  int64_t Quantile(double share) const;

 private:
  std::vector<int64_t> durations_;
  size_t next_ = 0;
};

}  // namespace gapless::internal
