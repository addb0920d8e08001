// SPDX-License-Identifier: Apache-2.0
// Assigns slices and GPU operations to steps in one sweep over sorted times. A GPU operation belongs to the step of its
// launch, and without a launch to the step in which it began; to none, if it began before the first operation of its
// device whose launch was recorded: that was launched before the recording. Of overlapping steps the first is kept.
#include <algorithm>
#include <map>

#include "trace/derive.h"
#include "trace/merge.h"

namespace gapless::internal {
namespace {

// The step that contains `ts_ns`, searching on from `at`, which must not be past it. Times come in ascending order.
StepId StepAt(const StepTable& steps, size_t& at, int64_t ts_ns) {
  while (at < steps.size() && steps.ts_ns[at] + steps.dur_ns[at] <= ts_ns) ++at;
  return at < steps.size() && steps.ts_ns[at] <= ts_ns ? StepId(at) : StepId();
}

// Returns, for each device, when the first operation whose launch was recorded began. Devices without one are missing.
std::map<int32_t, int64_t> FirstLaunched(const GpuOpTable& ops) {
  std::map<int32_t, int64_t> first;
  for (size_t row = 0; row < ops.size(); ++row)
    if (ops.launch[row].valid()) first.try_emplace(ops.device[row], ops.ts_ns[row]);
  return first;
}

}  // namespace

// GPU work may run long after its step has ended on the host, so gpu_end_ns may lie within a later step.
void AssignSteps(Trace& trace) {
  StepTable& steps = trace.steps;
  StepId* slice_step = trace.slices.step.mutable_data();
  StepId* op_step = trace.gpu_ops.step.mutable_data();
  size_t at = 0;
  for (size_t row = 0; row < trace.slices.size(); ++row) slice_step[row] = StepAt(steps, at, trace.slices.ts_ns[row]);
  steps.gpu_start_ns = Column<int64_t>::OfSize(steps.size(), kAbsent);
  steps.gpu_end_ns = Column<int64_t>::OfSize(steps.size(), kAbsent);
  int64_t* gpu_start = steps.gpu_start_ns.mutable_data();
  int64_t* gpu_end = steps.gpu_end_ns.mutable_data();
  at = 0;
  const std::map<int32_t, int64_t> first_launched = FirstLaunched(trace.gpu_ops);
  for (size_t row = 0; row < trace.gpu_ops.size(); ++row) {
    const int64_t start = trace.gpu_ops.ts_ns[row], end = start + trace.gpu_ops.dur_ns[row];
    const SliceId launch = trace.gpu_ops.launch[row];
    const StepId by_time = StepAt(steps, at, start);
    const auto first = launch.valid() ? first_launched.end() : first_launched.find(trace.gpu_ops.device[row]);
    const bool launched_before = first != first_launched.end() && start < first->second;
    const StepId step = launch.valid() ? slice_step[launch.value] : launched_before ? StepId() : by_time;
    op_step[row] = step;
    if (!step.valid()) continue;
    if (gpu_start[step.value] == kAbsent || start < gpu_start[step.value]) gpu_start[step.value] = start;
    gpu_end[step.value] = std::max(gpu_end[step.value], end);
  }
}

// The rows may come in any order. A later step is kept if it begins no earlier than the last kept one ends.
int64_t SetSteps(Trace& trace, std::vector<StepRow> rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const StepRow& a, const StepRow& b) { return a.ts_ns < b.ts_ns; });
  std::vector<StepRow> kept;
  for (StepRow& row : rows)
    if (kept.empty() || kept.back().ts_ns + kept.back().dur_ns <= row.ts_ns) kept.push_back(row);
  const size_t n = kept.size();
  merging::FillFrom(kept, trace.steps);
  AssignSteps(trace);
  return static_cast<int64_t>(rows.size() - n);
}

}  // namespace gapless::internal
