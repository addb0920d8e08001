// SPDX-License-Identifier: Apache-2.0
// The stretch of a trace that is analysed, and the stretch of each step in it.
//
// The host runs ahead of the device: a step's kernels end after its Python code has. A step's window therefore ends
// when both the host's span and the device work it launched are over, and the next one begins there:
//   end_i   = max(host end_i, last end of device work launched by step i), but no later than any later step's end
//   start_i = end_{i-1}, when step i follows step i−1 (their host spans lie less than 1 % of a step apart);
//             else max(host start_i, end_{i-1}), and for the first step max(host start, end of device work launched
//             before it), at most the start of its own first device work
// Only complete steps count. Windows do not overlap; those of adjacent steps tile. The trace's window goes from the
// first window's start to the last one's end, time between steps that are not adjacent included.
//
// A trace without complete steps is analysed from its first launch or GPU operation to the end of its last; without GPU
// operations, from its first host slice to the end of the last.
//
// Tables of counts and sums (kernels, operators, syncs …) take GPU operations that start within `span` and host slices
// that start within `host`, so that warm-up and cut-off steps do not blur them.
#pragma once

#include <vector>

#include "analyses/intervals.h"
#include "trace/trace.h"

namespace gapless::internal {

struct StepWindow {
  StepId step;
  Interval span;
};

struct Window {
  Interval span;                  // device time; empty: the trace has no events
  Interval host;                  // host spans of the complete steps, first to last; without steps all there is
  std::vector<StepWindow> steps;  // complete steps, in order
};

Window AnalysedWindow(const Trace& trace);

// Rows of `ts_ns` (ascending) that lie in `span`, as [first, last).
struct RowRange {
  size_t first = 0, last = 0;
  size_t size() const { return last - first; }
};
RowRange RowsWithin(const Column<int64_t>& ts_ns, Interval span);

}  // namespace gapless::internal
