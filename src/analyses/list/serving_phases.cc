// SPDX-License-Identifier: Apache-2.0
// The iterations of a serving engine one by one, for each device. Table engine_steps has them summed up by phase.
//
// Phase, requests and tokens are what the engine's annotation says (engine_iteration.h). Kernels do not tell them in a
// replayed graph: its nodes were captured with padded shapes, for a batch of another size. So an iteration without an
// annotation is not in the table, rather than in it with a phase that was guessed.
#include "analyses/rows/serving_phases.h"

#include <unordered_map>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/engine_iteration.h"

namespace gapless::internal::serving_phases_analysis {
namespace {

struct Launched {
  int64_t kernels = 0, graph_kernels = 0;
};

// Kernels by the step that launched them.
std::unordered_map<uint32_t, Launched> LaunchedBy(const Trace& trace, const DeviceTimeline& device) {
  std::unordered_map<uint32_t, Launched> by_step;
  const GpuOpTable& ops = trace.gpu_ops;
  for (const uint32_t row : device.RowsInWindow()) {
    if (ops.kind[row] != GpuOpKind::kKernel || !ops.step[row].valid()) continue;
    Launched& launched = by_step[ops.step[row].value];
    ++launched.kernels;
    const SliceId call = ops.launch[row];
    const bool by_graph = call.valid() && trace.slices.api[call.value] == ApiKind::kGraphLaunch;
    launched.graph_kernels += by_graph || ops.graph_id[row] != kAbsent ? 1 : 0;
  }
  return by_step;
}

Intervals IdleOfHost(const DeviceTimeline& device) {
  Intervals idle;
  for (const IdleGap& gap : device.gaps)
    for (uint32_t part = gap.first_part; part < gap.first_part + gap.part_count; ++part)
      if (device.parts[part].cause != IdleCause::kUnknown)
        AppendMerged(idle, {device.parts[part].start, device.PartEnd(gap, part)});
  return idle;
}

void AddRows(const TraceTimeline& timeline, const DeviceTimeline& device, TableOf<ServingPhasesRows>& table) {
  const Trace& trace = timeline.trace();
  const auto launched_by = LaunchedBy(trace, device);
  const Intervals busy = Unite(Unite(device.compute, device.communication), device.copies), idle = IdleOfHost(device);
  for (const StepWindow& step : timeline.window.steps) {
    const auto iteration = ReadEngineIteration(trace.Text(trace.steps.name[step.step.value]));
    if (!iteration) continue;
    const auto found = launched_by.find(step.step.value);
    const Launched launched = found == launched_by.end() ? Launched() : found->second;
    auto row = table.Row(*timeline.of);
    row.Set("device", device.device).Set("step", trace.steps.number[step.step.value]);
    row.Set("phase", kPhaseNames[static_cast<size_t>(iteration->phase())]);
    row.Set("prefill_requests", iteration->prefill_requests).Set("decode_requests", iteration->decode_requests);
    row.Set("prefill_tokens", iteration->prefill_tokens).Set("decode_tokens", iteration->decode_tokens);
    row.Set("ts_ns", step.span.start + timeline.of->ts_shift_ns).Set("dur_ns", step.span.length());
    row.Set("busy_ns", TotalIn(busy, step.span)).Set("host_idle_ns", TotalIn(idle, step.span));
    row.Set("exposed_comm_ns", TotalIn(device.exposed_communication, step.span));
    row.Set("kernels", launched.kernels).Set("graph_kernels", launched.graph_kernels);
    if (launched.kernels > 0) row.Set("launch", 2 * launched.graph_kernels > launched.kernels ? "graph" : "eager");
    row.Set("source", "annotation");
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<ServingPhasesRows> table;
  for (const TraceTimeline& timeline : tables.Timelines())
    for (const DeviceTimeline& device : timeline.devices) AddRows(timeline, device, table);
  return table;
}

}  // namespace

ANALYSIS(serving_phases) = AnalysisOf<ServingPhasesRows>({.run = Compute});

}  // namespace gapless::internal::serving_phases_analysis
