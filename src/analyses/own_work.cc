// SPDX-License-Identifier: Apache-2.0
// Sums the operations of each device, kernels by the id of their name.
#include "analyses/own_work.h"

#include <algorithm>
#include <utility>

#include "analyses/analysis.h"

namespace gapless::internal {
namespace {

// The operations of one device that belong to the rank's complete steps; without such steps all of them.
class OwnOperations {
 public:
  // `complete`, by step: 1 if it is one of the window's.
  OwnOperations(const TraceTimeline& timeline, const DeviceTimeline& device, const std::vector<uint8_t>& complete)
      : ops_(timeline.trace().gpu_ops), any_(timeline.window.steps.empty()), complete_(complete) {
    size_t all = 0, launched = 0;
    for (const uint32_t row : device.RowsInWindow()) ++all, launched += ops_.launch[row].valid();
    has_launches_ = 2 * launched > all;
  }
  bool Has(size_t row) const {
    if (any_) return true;
    if (has_launches_ && !ops_.launch[row].valid()) return false;
    return ops_.step[row].valid() && complete_[ops_.step[row].value] != 0;
  }

 private:
  const GpuOpTable& ops_;
  bool any_, has_launches_ = false;
  const std::vector<uint8_t>& complete_;
};

// Holds what all devices of a trace share, so that none of it is made for each of them.
struct Shared {
  explicit Shared(const TraceTimeline& timeline)
      : sums(timeline.trace().strings.size()), complete(timeline.trace().steps.size()), place(complete.size()) {
    for (const StepWindow& step : timeline.window.steps) {
      place[step.step.value] = static_cast<uint32_t>(&step - timeline.window.steps.data());
      complete[step.step.value] = 1;
    }
  }
  std::vector<OwnKernels> sums;   // by text: zero before and after each device
  std::vector<uint8_t> complete;  // by step
  std::vector<uint32_t> place;    // by step: which of the complete ones it is
};

void AddKernel(const GpuOpTable& ops, uint32_t row, OwnKernels& sum) {
  ++sum.count, sum.ns += ops.dur_ns[row];
  if (ops.grid_x[row] == kAbsent32) return;
  const auto along = [](int32_t blocks) { return std::max<int64_t>(1, blocks); };
  ++sum.with_grid, sum.blocks += along(ops.grid_x[row]) * along(ops.grid_y[row]) * along(ops.grid_z[row]);
}

void AddOperations(const TraceTimeline& timeline, const DeviceTimeline& on, Shared& shared, OwnWork& work) {
  std::vector<OwnKernels>& sums = shared.sums;
  const Trace& trace = timeline.trace();
  const GpuOpTable& ops = trace.gpu_ops;
  const Interval window = timeline.window.span;
  const OwnOperations own(timeline, on, shared.complete);
  std::vector<uint32_t> names;  // ids of the kernels' names
  UnionLength compute;
  Intervals copies;
  work.by_step.resize(timeline.window.steps.size());
  for (const uint32_t row : on.RowsInWindow()) {
    const bool kernel = ops.kind[row] == GpuOpKind::kKernel;
    if ((kernel && ops.op_class[row] == GpuOpClass::kCommunication) || !own.Has(row)) continue;
    const Interval span{ops.ts_ns[row], ops.ts_ns[row] + ops.dur_ns[row]};
    if (!kernel) {
      AppendMerged(copies, span);
      continue;
    }
    compute.Add({std::max(span.start, window.start), std::min(span.end, window.end)});
    OwnKernels& sum = sums[static_cast<uint32_t>(ops.name[row])];
    if (sum.count == 0) names.push_back(static_cast<uint32_t>(ops.name[row]));
    AddKernel(ops, row, sum);
    if (const StepId step = ops.step[row]; step.valid() && shared.complete[step.value] != 0)
      AddKernel(ops, row, work.by_step[shared.place[step.value]]);
    ++work.kernels, work.kernel_ns += ops.dur_ns[row];
  }
  work.compute_ns = compute.total();
  work.copies_ns = Total(Intersect(copies, on.exposed_copies));
  std::sort(names.begin(), names.end());
  for (const uint32_t id : names)
    work.by_name.emplace_back(trace.strings[static_cast<StringId>(id)], std::exchange(sums[id], {}));
}

void AddIdle(const DeviceTimeline& on, OwnWork& work) {
  for (const IdleGap& gap : on.gaps)
    for (uint32_t part = gap.first_part; part < gap.first_part + gap.part_count; ++part)
      work.idle[static_cast<size_t>(on.parts[part].cause)] += on.PartEnd(gap, part) - on.parts[part].start;
}

}  // namespace

std::vector<OwnWork> OwnWorkOfDevices(Tables& tables) {
  std::vector<OwnWork> all;
  for (const TraceTimeline& timeline : tables.Timelines()) {
    Shared shared(timeline);
    for (const DeviceTimeline& on : timeline.devices) {
      OwnWork& work = all.emplace_back();
      work.of = timeline.of, work.device = on.device;
      AddOperations(timeline, on, shared, work);
      AddIdle(on, work);
    }
  }
  return all;
}

}  // namespace gapless::internal
