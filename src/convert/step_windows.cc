// SPDX-License-Identifier: Apache-2.0
// Looks up the windows of the requested steps on every rank, and joins windows that touch.
#include "convert/step_windows.h"

#include <algorithm>

#include "base/strings.h"

namespace gapless::internal {
namespace {

// Returns the windows of the steps with these numbers in one trace, merged where they touch. A step's window also
// covers the GPU operations that it launched, which end after its host part.
WriteWindows WindowsOf(const StepTable& steps, std::span<const int64_t> sorted_numbers) {
  Intervals found;
  for (size_t row = 0; row < steps.size(); ++row) {
    if (!std::ranges::binary_search(sorted_numbers, steps.number[row])) continue;
    Interval window{steps.ts_ns[row], steps.ts_ns[row] + steps.dur_ns[row]};
    if (steps.gpu_start_ns[row] != kAbsent) window.start = std::min(window.start, steps.gpu_start_ns[row]);
    if (steps.gpu_end_ns[row] != kAbsent) window.end = std::max(window.end, steps.gpu_end_ns[row]);
    window.end = std::max(window.end, window.start + 1);
    found.push_back(window);
  }
  return Merge(std::move(found));
}

// "5–10" of the steps there are, for the hint.
std::string NumbersThereAre(std::span<const RunTrace* const> traces) {
  int64_t first = INT64_MAX, last = INT64_MIN;
  for (const RunTrace* run_trace : traces)
    for (const int64_t number : run_trace->trace->steps.number)
      first = std::min(first, number), last = std::max(last, number);
  if (first > last) return "the recording has no steps";
  return StrCat("the recording has steps ", first, " to ", last);
}

}  // namespace

Result<std::vector<WriteWindows>> WindowsOfSteps(std::span<const RunTrace* const> traces,
                                                 std::span<const int64_t> numbers) {
  std::vector<int64_t> sorted(numbers.begin(), numbers.end());
  std::ranges::sort(sorted);
  std::vector<WriteWindows> windows;
  bool any = false;
  for (const RunTrace* run_trace : traces) {
    windows.push_back(WindowsOf(run_trace->trace->steps, sorted));
    any = any || !windows.back().empty();
  }
  if (!any) return Fail(ErrorCode::kInput, "no such step", "", NumbersThereAre(traces));
  return windows;
}

}  // namespace gapless::internal
