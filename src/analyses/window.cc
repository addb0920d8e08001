// SPDX-License-Identifier: Apache-2.0
#include "analyses/window.h"

#include <algorithm>
#include <limits>

namespace gapless::internal {
namespace {

constexpr int64_t kAdjacentPart = 100;  // host spans less than 1/100 of a step apart follow each other

int64_t HostEnd(const StepTable& steps, size_t row) { return steps.ts_ns[row] + steps.dur_ns[row]; }

std::vector<uint32_t> CompleteSteps(const StepTable& steps) {
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < steps.size(); ++row)
    if (steps.complete[row] != 0 && steps.dur_ns[row] > 0) rows.push_back(row);
  return rows;
}

// Where the device is done with what was launched before `step`, but not after the step's own first device work.
int64_t FirstStart(const Trace& trace, uint32_t step) {
  const StepTable& steps = trace.steps;
  const int64_t host_start = steps.ts_ns[step], own_first = steps.gpu_start_ns[step];
  if (own_first == kAbsent || own_first <= host_start) return host_start;
  int64_t before = host_start;
  const GpuOpTable& ops = trace.gpu_ops;
  for (size_t row = 0; row < ops.size() && ops.ts_ns[row] < own_first; ++row) {
    const SliceId launch = ops.launch[row];
    if (launch.valid() && trace.slices.ts_ns[launch.value] < host_start)
      before = std::max(before, ops.ts_ns[row] + ops.dur_ns[row]);
  }
  return std::min(before, own_first);
}

std::vector<StepWindow> StepWindows(const Trace& trace) {
  const StepTable& steps = trace.steps;
  const std::vector<uint32_t> rows = CompleteSteps(steps);
  std::vector<StepWindow> windows(rows.size());
  int64_t next_end = std::numeric_limits<int64_t>::max();
  for (size_t i = rows.size(); i-- > 0;) {
    const int64_t end = std::max(HostEnd(steps, rows[i]), steps.gpu_end_ns[rows[i]]);  // kAbsent is the least number
    next_end = std::min(end, next_end);
    windows[i] = {StepId(rows[i]), {0, next_end}};
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    const int64_t host_start = steps.ts_ns[rows[i]];
    int64_t& start = windows[i].span.start;
    if (i == 0) {
      start = std::min(FirstStart(trace, rows[0]), windows[0].span.end);
      continue;
    }
    const int64_t apart = host_start - HostEnd(steps, rows[i - 1]);
    const bool adjacent = apart < std::max(steps.dur_ns[rows[i - 1]], steps.dur_ns[rows[i]]) / kAdjacentPart;
    start = adjacent ? windows[i - 1].span.end : std::max(host_start, windows[i - 1].span.end);
  }
  return windows;
}

void Extend(Interval& span, int64_t start, int64_t end) {
  span.start = std::min(span.start, start);
  span.end = std::max(span.end, end);
}

Interval WholeSpan(const Trace& trace) {
  Interval span{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  const GpuOpTable& ops = trace.gpu_ops;
  const SliceTable& slices = trace.slices;
  for (size_t row = 0; row < ops.size(); ++row) {
    Extend(span, ops.ts_ns[row], ops.ts_ns[row] + ops.dur_ns[row]);
    if (const SliceId launch = ops.launch[row]; launch.valid())
      Extend(span, slices.ts_ns[launch.value], slices.ts_ns[launch.value] + slices.dur_ns[launch.value]);
  }
  for (size_t row = 0; ops.size() == 0 && row < slices.size(); ++row)
    Extend(span, slices.ts_ns[row], slices.ts_ns[row] + slices.dur_ns[row]);
  return span.end >= span.start ? span : Interval{};
}

}  // namespace

Window AnalysedWindow(const Trace& trace) {
  Window window;
  window.steps = StepWindows(trace);
  if (window.steps.empty()) {
    window.span = WholeSpan(trace);
    window.host = {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
    return window;
  }
  const StepTable& steps = trace.steps;
  const StepWindow &first = window.steps.front(), &last = window.steps.back();
  window.span = {first.span.start, last.span.end};
  window.host = {steps.ts_ns[first.step.value], HostEnd(steps, last.step.value)};
  return window;
}

RowRange RowsWithin(const Column<int64_t>& ts_ns, Interval span) {
  const auto at = [&](int64_t ts) {
    return static_cast<size_t>(std::lower_bound(ts_ns.begin(), ts_ns.end(), ts) - ts_ns.begin());
  };
  return {at(span.start), std::max(at(span.start), at(span.end))};
}

}  // namespace gapless::internal
