// SPDX-License-Identifier: Apache-2.0
// Computes the cost of recording for one process: the one definition (docs/definitions.md), which text and JSON show.
#pragma once

#include <cstdint>
#include <optional>

#include "collect/step_account.h"
#include "wire/agent_ring.h"

namespace gapless::internal {

// Times for which the program was held up, of one process. Together they are the cost of recording.
struct RecordingParts {
  int64_t agent_ns = 0;                  // hooks of the agent
  int64_t start_ns = 0;                  // the profiler was prepared and started
  std::optional<int64_t> slow_steps_ns;  // recorded steps beyond the median of the others; absent: not known
  int64_t stop_ns = 0, export_ns = 0;    // it was stopped, and what it kept was written
  int64_t end_ns = 0;                    // the end of the program waited for the file
  int64_t python_ns = 0;                 // tracing of Python calls or lines, beside the profiler
  int64_t Total() const;
};

// A RecordingAccount sums them up from the agent's records, one process at a time.
//
// A recorded step is compared by what it took without starts and stops of the profiler, and without evaluations,
// checkpoints and other work beside the training, which may lie in any step. So are the other steps.
class RecordingAccount {
 public:
  void Add(const wire::RingRecord& record);
  // `agent_ns`: what the ring's header says.
  RecordingParts Parts(int64_t agent_ns) const;
  // Returns true if a profiler ran, or Python was traced.
  bool recorded() const { return recorded_; }

 private:
  void AddStep(const wire::RingRecord& record);

  RecordingParts parts_;
  bool recorded_ = false, was_recorded_ = false;
  int64_t held_up_ns_ = 0;  // time of the current step that was no work of its own
  int64_t recorded_ns_ = 0, recorded_steps_ = 0;
  StepHistory others_;
};

}  // namespace gapless::internal
