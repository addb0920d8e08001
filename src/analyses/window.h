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
// first window's start to the last one's end, time between steps that are not adjacent included. The first steps are
// excluded as warm-up if each takes at least twice the median of those after it and one-offs (one_offs.h) account for
// half of what it takes more.
//
// A single iteration of a serving engine is analysed without its edges, as below.
//
// A trace without complete steps is analysed from its first launch or GPU operation to the end of its last, less what
// is no part of steady work: what does not repeat, where most of the work does (steady_span.h), else idle edges
// (steady_span.h); without GPU operations, from its first host slice to the end of the last. Where one-offs take half
// of that stretch or more it is a cold start, and nothing is excluded.
//
// Tables of counts and sums (kernels, operators, syncs …) take GPU operations that start within `span` and host slices
// that start within `host`, so that warm-up and cut-off steps do not blur them.
#pragma once

#include <string_view>
#include <vector>

#include "analyses/intervals.h"
#include "analyses/one_offs.h"
#include "trace/trace.h"

namespace gapless::internal {

struct StepWindow {
  StepId step;
  Interval span;
};

// A stretch of the recording that is not analysed, and what the devices did in it.
enum class AsideKind : uint8_t { kBefore, kAfter, kWarmUpSteps };
inline constexpr std::string_view kAsideKindNames[] = {"before", "after", "warm_up_steps"};
struct SetAside {
  AsideKind kind;
  Interval span;
  int64_t busy_ns = 0;
  int64_t steps = 0;
};

struct Window {
  Interval span;                    // device time; empty: the trace has no events
  Interval host;                    // host spans of the steps below, first to last; without steps all there is
  std::vector<StepWindow> steps;    // complete steps that are no warm-up, in order
  std::vector<SetAside> set_aside;  // in order of time; incomplete steps are not in here
  std::vector<OneOff> one_offs;     // one-offs of the whole recording
  int64_t one_off_idle_ns = 0;      // time in `span` in which one-offs are under way and no device works

  // Do one-offs take at least half of the time?
  bool IsColdStart() const { return one_off_idle_ns > 0 && 2 * one_off_idle_ns >= span.length(); }
};

Window AnalysedWindow(const Trace& trace);

// Rows of `ts_ns` (ascending) that lie in `span`, as [first, last).
struct RowRange {
  size_t first = 0, last = 0;
  size_t size() const { return last - first; }
};
RowRange RowsWithin(const Column<int64_t>& ts_ns, Interval span);

}  // namespace gapless::internal
