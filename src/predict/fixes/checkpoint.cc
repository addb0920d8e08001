// SPDX-License-Identifier: Apache-2.0
// Activations are not kept but computed again in the backward pass (activation checkpointing).
//
// Model. The backward pass takes longer by the work of the forward pass, on the device and on the host; how much that
// is, the recording says (common/passes.h). It is spread over all of the backward pass. The memory that
// it frees is said beside the time where a snapshot is part of the run (predict/freed_memory.h).
//
// Prior. Recomputing all of the forward pass is the rule; what is outside the checkpointed blocks (embedding, head,
// loss) is not. Chen et al. 2016 measured 30 % more time for a whole step, the documentation of transformers says 20 %:
// with a forward pass of a third of the work, nine tenths and six tenths of it. The cautious case recomputes all, and
// restores the random state.
//
// Trial. Alone it costs time, so its typical speedup is below 1; it pays through a larger batch (checkpoint_batch).
#include <algorithm>

#include "base/strings.h"
#include "fixes/names.h"
#include "predict/fix.h"
#include "predict/fixes/common/edits.h"
#include "predict/fixes/common/passes.h"
#include "predict/fixes/common/values.h"

namespace gapless::internal::checkpoint_fix {
namespace {

struct Amounts {
  double forward_ns = 0, backward_ns = 0;
  // Sets the time of the backward pass if `share` of the forward pass is added.
  double Factor(double share) const { return backward_ns > 0 ? 1 + share * forward_ns / backward_ns : 1; }
};

// Kernels that a block's forward pass launches, as opposed to batches that are copied and collectives.
bool IsComputed(const GpuOpTable& ops, uint32_t op) {
  return ops.kind[op] == GpuOpKind::kKernel && ops.op_class[op] != GpuOpClass::kCommunication;
}

Amounts OnDevice(const Trace& trace, const Passes& passes) {
  const GpuOpTable& ops = trace.gpu_ops;
  Amounts sums;
  for (uint32_t op = 0; op < ops.size(); ++op) {
    if (!IsComputed(ops, op)) continue;
    if (passes.of_op[op] == Pass::kForward) sums.forward_ns += static_cast<double>(ops.dur_ns[op]);
    if (passes.of_op[op] == Pass::kBackward) sums.backward_ns += static_cast<double>(ops.dur_ns[op]);
  }
  return sums;
}

// Host work by the pass of the slice that does it; between slices of the forward pass it is Python of the same.
Amounts OnHost(const Trace& trace, const Passes& passes, const Graph& graph) {
  Amounts sums;
  uint32_t row = 0;
  Pass now = Pass::kNone;
  for (Instant instant = 0; instant < graph.size(); ++instant) {
    for (; row < trace.slices.size() && trace.slices.ts_ns[row] < graph.recorded_ns[instant]; ++row)
      if (passes.of_slice[row] != Pass::kNone) now = passes.of_slice[row];
    for (const Edge& edge : graph.Into(instant)) {
      if (edge.kind != EdgeKind::kHost && edge.kind != EdgeKind::kCall) continue;
      const Pass own = edge.owner == kNoRowValue ? Pass::kNone : passes.of_slice[edge.owner];
      if (own == Pass::kBackward) sums.backward_ns += static_cast<double>(edge.ns);
      if (own == Pass::kForward || (own == Pass::kNone && now == Pass::kForward))
        sums.forward_ns += static_cast<double>(edge.ns);
    }
  }
  return sums;
}

// Layers that are called in the backward pass are called again.
bool ComputesAgain(const Trace& trace, const Passes& passes) {
  constexpr std::string_view kLayers[] = {"aten::conv2d", "aten::conv1d",     "aten::conv3d",
                                          "aten::linear", "aten::batch_norm", "aten::layer_norm"};
  std::vector<uint8_t> is_layer(trace.strings.size());
  for (size_t id = 0; id < is_layer.size(); ++id) {
    const std::string_view name = trace.strings[static_cast<StringId>(id)];
    if (name.starts_with("CheckpointFunction")) return true;
    is_layer[id] = std::find(std::begin(kLayers), std::end(kLayers), name) != std::end(kLayers) ? 1 : 0;
  }
  size_t forward = 0, again = 0;
  for (size_t row = 0; row < passes.of_slice.size(); ++row) {
    if (is_layer[static_cast<uint32_t>(trace.slices.name[row])] == 0) continue;
    forward += passes.of_slice[row] == Pass::kForward ? 1 : 0;
    again += passes.of_slice[row] == Pass::kBackward ? 1 : 0;
  }
  return 4 * again > forward;
}

// The most of a step that its activations may be; kAbsent: not recorded.
int64_t GrowthBytes(const Trace& trace) {
  const MemoryEventTable& events = trace.memory_events;
  int64_t least = kAbsent, most = kAbsent;
  for (size_t row = 0; row < events.size(); ++row) {
    const int64_t total = events.total_allocated[row];
    if (events.device_type[row] == 0 || total == kAbsent) continue;
    least = least == kAbsent ? total : std::min(least, total), most = std::max(most, total);
  }
  return most == kAbsent ? kAbsent : most - least;
}

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& /*item*/, Estimate estimate, EdgeTimes& times) {
  const Trace& trace = input.trace();
  const Passes& passes = input.Once(FindPasses);
  const Amounts device = OnDevice(trace, passes), host = OnHost(trace, passes, times.graph());
  WhatIfEffect effect;
  if (!HasOperators(trace))
    effect.refusal = WhyNoOperators(trace);
  else if (device.backward_ns == 0)
    effect.refusal = "no backward pass was recorded";
  else if (ComputesAgain(trace, passes))
    effect.no_effect = "activations are computed again already";
  if (!effect.refusal.empty() || !effect.no_effect.empty()) return effect;
  const double share = ValueFor(estimate, 1.05, 0.9, 0.6);
  times.ScaleOps([&](uint32_t op) {
    return passes.of_op[op] == Pass::kBackward && IsComputed(trace.gpu_ops, op) ? device.Factor(share) : 1.0;
  });
  times.ScaleHost([&](uint32_t slice) {
    return slice != kNoRowValue && passes.of_slice[slice] == Pass::kBackward ? host.Factor(share) : 1.0;
  });
  effect.assumptions.emplace_back("almost all of the forward pass is computed again");
  // A snapshot says it better.
  const bool has_blocks = std::ranges::any_of(input.tables.run().traces(),
                                              [](const RunTrace& of) { return of.trace->memory_blocks.size() > 0; });
  const int64_t bytes = GrowthBytes(trace);
  if (bytes != kAbsent && !has_blocks)
    effect.assumptions.push_back(StrCat("most of the ", FormatBytes(bytes),
                                        " that come and go in a step are activations: they are what it saves"));
  return effect;
}

FixValues Values(const FixContext& context) {
  return context.all_values ? FixValues{.values = {"0.25", "0.5", "block"}} : FixValues{.values = {"0.5", "block"}};
}

bool Accepts(std::string_view value) { return value == "block" || IsWhole(value, 1, 65536) || IsPositive(value, 1); }
constexpr std::string_view kCures[] = {"memory_pressure"};
constexpr std::string_view kConflicts[] = {fixes::kOffload.name, fixes::kCompile.name, fixes::kCudagraph.name,
                                           fixes::kCheckpointBatch.name};

}  // namespace

FIX(checkpoint) = {
    .name = "checkpoint",
    .help = "Compute activations again instead of keeping them",
    .safety = Safety::kExact,
    .model = {.why = "The forward pass is computed once more within the backward pass: 90 % of it (60 to 105 %; Chen "
                     "et al. 2016 measured 30 % more time for a step, the documentation of transformers says 20 %). "
                     "The memory that it frees is said where a memory snapshot is part of the recording: see the table "
                     "memory_savings.",
              .apply = Apply},
    .trial = {.value = "[HOW]",
              .grammar = {"block, a share of the blocks such as 0.5, or a whole number up to 65536", Accepts},
              .why = "Where memory limits the batch. The repeated blocks of the model are wrapped in activation "
                     "checkpointing, all of them (`block`), a share (0.5: every second one), or every third (3). The "
                     "forward pass of these runs once more in the backward pass, with the same random numbers, so the "
                     "numbers stay. It costs time, about 20 % (documentation of transformers), and pays only through a "
                     "larger batch or a model that did not fit.",
              .effort = Effort::kMedium,
              .choice = {.order = 64, .cures = kCures, .conflicts = kConflicts, .prior = 0.8},
              .live = {.between_steps = true},
              .values = Values}};

}  // namespace gapless::internal::checkpoint_fix
