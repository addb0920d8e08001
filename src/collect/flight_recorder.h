// SPDX-License-Identifier: Apache-2.0
// Watches for steps that are far slower than the run's own, says what they spent more time on than others, and has the
// steps after them recorded in depth.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "collect/launch.h"
#include "collect/step_account.h"

namespace gapless::internal {

struct FlightOptions {
  int steps = 3;              // to record after a slow step
  int most = 5;               // recordings in a run
  int64_t pause_steps = 100;  // without another recording after one
};

// One slow step, against the steps before it.
struct SlowStep {
  int64_t pid = 0;
  StepParts parts;
  int64_t median_ns = 0, p99_ns = 0;
  StepParts usual;  // medians of the parts
  // "step 312 took 534 ms, median 31.2 ms, p99 33.0 ms: 498 ms more in waiting for the next batch"
  std::string Text() const;
};

// A FlightRecorder finds slow steps. A step is slow when it lies three times as far above the median of the (up to
// 1,000) steps before as their 99th percentile does, and takes 1.5 times the median. Looked at from 100 steps on;
// steps with the profiler on do not count. After one there is a pause, but for steps that are twice as far off.
class FlightRecorder : public Watcher {
 public:
  explicit FlightRecorder(FlightOptions options) : options_(options) {}

  void OnRecord(AgentProcess& process, const wire::RingRecord& record) override;
  void OnTick(RingKeeper& rings, ControlBlock& control, std::vector<RunEvent>& events) override;

  size_t slow_steps() const { return seen_; }

 private:
  struct State {
    StepAccount account;
    StepHistory dur, wait, gc, save, compile;
    int64_t disturbed_until = -1;  // step
    int64_t quiet_until = 0;       // step
    int64_t last_more_ns = 0;      // time above the median of the last step that was reported
  };

  FlightOptions options_;
  std::map<int64_t, State> states_;  // by pid
  std::deque<SlowStep> found_;
  std::map<int64_t, bool> noted_;  // steps of the run that have been reported, by any rank
  size_t seen_ = 0;
  int recordings_ = 0;
};

}  // namespace gapless::internal
