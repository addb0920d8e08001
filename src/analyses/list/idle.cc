// SPDX-License-Identifier: Apache-2.0
// Every interval in which a whole device was idle, with its causes (timeline.h) and what the host had open at the
// longest one.
#include "analyses/rows/idle.h"

#include <array>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/open_slice.h"

namespace gapless::internal {
namespace {

using CauseSums = std::array<int64_t, kIdleCauses>;

struct Cause {
  CauseSums sums{};
  IdleCause main = IdleCause::kUnknown;
  uint32_t part = 0;  // the longest of the main cause
};

Cause CauseOf(const DeviceTimeline& device, const IdleGap& gap) {
  Cause cause;
  std::array<int64_t, kIdleCauses> longest{};
  std::array<uint32_t, kIdleCauses> at{};
  for (uint32_t part = gap.first_part; part < gap.first_part + gap.part_count; ++part) {
    const auto of = static_cast<size_t>(device.parts[part].cause);
    const int64_t length = device.PartEnd(gap, part) - device.parts[part].start;
    cause.sums[of] += length;
    if (length > longest[of]) longest[of] = length, at[of] = part;
  }
  const auto main = static_cast<size_t>(std::max_element(cause.sums.begin(), cause.sums.end()) - cause.sums.begin());
  cause.main = static_cast<IdleCause>(main);
  cause.part = at[main];
  return cause;
}

class Writer {
 public:
  Writer(Table& table, const TraceTimeline& timeline, const DeviceTimeline& device)
      : table_(table), timeline_(timeline), trace_(timeline.trace()), device_(device), open_(trace_) {}

  void Write() {
    for (const IdleGap& gap : device_.gaps) {
      const Cause cause = CauseOf(device_, gap);
      WriteRow(gap, cause, OpenIn(gap, cause));
    }
  }

 private:
  // Returns the slice of the main part; where that is only an outer frame, the innermost one open in the middle of the
  // part. Gaps come in order, and so do these middles.
  SliceId OpenIn(const IdleGap& gap, const Cause& cause) {
    const IdlePart& part = device_.parts[cause.part];
    if (part.cause != IdleCause::kHost || !part.slice.valid()) return part.slice;
    const Interval span{part.start, device_.PartEnd(gap, cause.part)};
    const SliceId found = open_.Innermost({Middle(span), trace_.slices.thread[part.slice.value]});
    return found.valid() ? found : part.slice;
  }

  int64_t StepOf(int64_t ts) {
    const auto& steps = timeline_.window.steps;
    while (step_ < steps.size() && steps[step_].span.end <= ts) ++step_;
    return step_ < steps.size() && steps[step_].span.start <= ts ? trace_.steps.number[steps[step_].step.value]
                                                                 : kAbsent;
  }

  void WriteRow(const IdleGap& gap, const Cause& cause, SliceId open) {
    const RunTrace& of = *timeline_.of;
    const SliceId launch = gap.next.valid() ? trace_.gpu_ops.launch[gap.next.value] : SliceId();
    const HostContext context = ContextOf(trace_, open);
    const auto id = static_cast<int64_t>(table_.rows());
    auto row = BeginRow(table_, of);
    row.Int(id).Int(device_.device).Int(StepOf(gap.span.start));
    row.Int(gap.span.start + of.ts_shift_ns)
        .Int(gap.span.length())
        .Text(kIdleCauseNames[static_cast<size_t>(cause.main)]);
    for (const int64_t sum : cause.sums) row.Int(sum);
    row.Int(of.Id(gap.previous)).Int(of.Id(gap.next)).Int(of.Id(launch)).Int(of.Id(open));
    row.TextOrNull(context.operator_name).TextOrNull(context.annotation).TextOrNull(context.source_line);
  }

  Table& table_;
  const TraceTimeline& timeline_;
  const Trace& trace_;
  const DeviceTimeline& device_;
  OpenSlices open_;
  size_t step_ = 0;
};

Result<Table> Compute(const Run&, Tables& tables) {
  Table table = EmptyTable<IdleRows>();
  size_t gaps = 0;
  for (const TraceTimeline& timeline : tables.Timelines())
    for (const DeviceTimeline& device : timeline.devices) gaps += device.gaps.size();
  table.Reserve(gaps);
  for (const TraceTimeline& timeline : tables.Timelines())
    for (const DeviceTimeline& device : timeline.devices) Writer(table, timeline, device).Write();
  return table;
}

}  // namespace

ANALYSIS(idle) = {.name = "idle",
                  .help = "Each interval in which a whole device was idle, its causes and what the host was doing",
                  .columns = IdleRows::kColumns,
                  .run = Compute};

}  // namespace gapless::internal
