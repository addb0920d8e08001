// SPDX-License-Identifier: Apache-2.0
// Collects the intervals of each part on the stepping thread, then gives every moment to the first part that has it.
#include "analyses/host_partition.h"

namespace gapless::internal {
namespace {

using host_parts::Part;

// gloo marks a message from the call that asks for it until it has arrived, on the thread of the call.
bool IsMessage(std::string_view kind) { return kind == "send" || kind == "recv"; }

// Returns what is open by part, regardless of the others.
std::array<Intervals, kOwnHostParts> OpenByPart(const Trace& trace, const OptimizerUpdates& updates) {
  std::array<Intervals, kOwnHostParts> open;
  const SliceTable& slices = trace.slices;
  const ThreadId thread = host_parts::SteppingThread(trace);
  std::vector<Part> parts(trace.strings.size(), Part::kParts);
  for (uint32_t row = 0; row < slices.size(); ++row) {
    if (slices.thread[row] != thread) continue;
    Part& named = parts[static_cast<uint32_t>(slices.name[row])];
    if (named == Part::kParts) named = host_parts::PartOf(trace.Text(slices.name[row]));
    const bool is_operator = slices.category[row] == SliceCategory::kOperator;
    const Part part = named == Part::kNone && is_operator ? Part::kOperator : named;
    if (part == Part::kNone) continue;
    Intervals& list = open[static_cast<size_t>(part)];
    if (part != Part::kOptimizer) {
      AppendMerged(list, {slices.ts_ns[row], slices.ts_ns[row] + slices.dur_ns[row]});
    } else if (const OptimizerUpdate* update = updates.At(row)) {  // else one inside another
      for (const Interval& own : update->own) AppendMerged(list, own);
    }
  }
  Intervals& waiting = open[static_cast<size_t>(Part::kCollective)];
  const CollectiveTable& collectives = trace.collectives;
  for (size_t row = 0; row < collectives.size(); ++row)
    if (collectives.device[row] == kAbsent32 && collectives.slice[row].valid() &&
        (slices.thread[collectives.slice[row].value] != thread || IsMessage(trace.Text(collectives.kind[row]))))
      AppendMerged(waiting, {collectives.ts_ns[row], collectives.ts_ns[row] + collectives.dur_ns[row]});
  // Operators of the stepping thread that run during a collective do not count as waiting.
  waiting = Subtract(waiting, open[static_cast<size_t>(Part::kOperator)]);
  return open;
}

}  // namespace

HostPartition PartitionHost(const TraceTimeline& timeline, const OptimizerUpdates& updates) {
  const Trace& trace = timeline.trace();
  HostPartition partition;
  Intervals rest;
  for (const StepWindow& window : timeline.window.steps) {
    const uint32_t step = window.step.value;
    ++partition.steps;
    AppendMerged(rest, {trace.steps.ts_ns[step], trace.steps.ts_ns[step] + trace.steps.dur_ns[step]});
  }
  // Without marks all that was recorded is divided.
  if (trace.steps.size() == 0) AppendMerged(rest, timeline.window.span);
  if (Total(rest) == 0 || trace.slices.size() == 0) return partition;
  partition.wall_ns = Total(rest);
  const auto open = OpenByPart(trace, updates);
  for (size_t part = 0; part < open.size(); ++part) {
    partition.of[part] = Intersect(rest, open[part]);
    rest = Subtract(rest, open[part]);
  }
  partition.of.back() = std::move(rest);
  return partition;
}

}  // namespace gapless::internal
