// SPDX-License-Identifier: Apache-2.0
// A stretch of a trace, as a trace of its own: what a recorder would have written that was started later and stopped
// earlier. Columns without ids are views into the whole trace, so that cutting costs little.
#pragma once

#include <cstdint>
#include <memory>

#include "trace/run.h"
#include "trace/trace.h"

namespace gapless::internal {

struct Stretch {
  int64_t start_ns = 0, end_ns = 0;  // slices and GPU operations that begin in here; times stay as they are
  StepId first{}, last{};            // the steps that count; others in the stretch are marked as cut off
};

struct CutTrace {
  std::shared_ptr<const Trace> trace;
  IdBase rows{};  // by table: the row of the whole trace that is row 0 of the stretch
};

// Slices that began before the stretch are not in it, so those within lose their parents and get other depths. GPU
// operations begin with the first one that a call in the stretch launched, or that nothing launched; ids that lead out
// of the stretch are absent. Threads, devices, counters, memory events, the duration and facts about the process are
// those of the whole. Linear in the rows of the stretch and in the texts of the whole.
CutTrace Cut(const std::shared_ptr<const Trace>& whole, const Stretch& stretch);

}  // namespace gapless::internal
