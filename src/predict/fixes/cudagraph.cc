// SPDX-License-Identifier: Apache-2.0
// The work of a step is launched as a graph: the host no longer launches kernel by kernel.
//
// Model. One launch takes the place of all in a step, and kernels follow each other within a microsecond (as they did,
// in the cautious case). The operators around launches are no longer called, nor is the Python between them, as far as
// it comes in stretches of less than 0.5 ms: a replay runs neither. What computes on the host stays, as do loading,
// copies, and longer stretches of Python. Where operators compute on the host there is nothing to launch. Beside
// `compile`, which also takes launches away, the host's time is the shorter of both and not their product.
//
// Prior. A tenth of launches and operators is left (2 to 50 %), and half of the Python between them (2 % to all): which
// of it belongs to the part that is captured cannot be seen.
//
// Trial. The model is compiled with CUDA graphs. It is tried last, since a run with it starts slowly.
#include <algorithm>

#include "analyses/window.h"
#include "fixes/names.h"
#include "predict/fix.h"
#include "predict/fixes/common/edits.h"
#include "predict/fixes/common/launching.h"
#include "predict/program.h"

namespace gapless::internal::cudagraph_fix {
namespace {

constexpr int64_t kGapNs = 1000;  // between kernels of a graph that depend on each other

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& /*item*/, Estimate estimate, EdgeTimes& times) {
  const Trace& trace = input.trace();
  const HostParts& parts = input.Once(FindHostParts);
  WhatIfEffect effect;
  for (uint32_t row = 0; row < trace.slices.size(); ++row)
    if (trace.slices.api[row] == ApiKind::kGraphLaunch) effect.no_effect = "the step is launched as graphs already";
  const size_t steps = std::max<size_t>(1, AnalysedWindow(trace).steps.size());
  if (effect.no_effect.empty() && parts.launched_kernels() > 0 && parts.launched_kernels() <= steps)
    effect.no_effect = "a step launches one kernel: a graph of it is launched as often";
  if (effect.no_effect.empty() && parts.launched_kernels() == 0) {
    if (trace.gpu_ops.size() > 0 && !HasHost(FindProgram(trace)))
      effect.refusal = kNoHost;
    else
      effect.no_effect = "no kernel is launched by the host: there are no launches to take away";
  }
  if (!effect.no_effect.empty() || !effect.refusal.empty()) return effect;
  times.LimitHost([&](const Edge& edge, int64_t ns) {
    switch (parts.Of(edge, ns)) {
      case HostPart::kLaunching: return ValueFor(estimate, 0.5, 0.1, 0.02);
      case HostPart::kBetween: return ValueFor(estimate, 1, 0.5, 0.02);
      case HostPart::kOther: break;
    }
    return 1.0;
  });
  if (estimate != Estimate::kPessimistic) times.LimitGaps(kGapNs);
  effect.assumptions.emplace_back(
      "shapes and control flow are the same in every step, and nothing in it waits for the device");
  return effect;
}

FixValues Values(const FixContext& context) {
  if (!context.gpu) return NoneBecause("CUDA graphs need a GPU");
  return {.values = {""}};
}

constexpr std::string_view kCures[] = {"launch_bound", "tiny_kernels", "host_bound"};
constexpr std::string_view kConflicts[] = {fixes::kCompile.name, fixes::kOffload.name, fixes::kCheckpoint.name,
                                           fixes::kCheckpointBatch.name};

}  // namespace

FIX(cudagraph) = {
    .name = "cudagraph",
    .help = "Replay the model's kernels as CUDA graphs",
    .safety = Safety::kRounding,
    .model = {.why =
                  "The host's launches and the operators around them cost a tenth (2 to 50 %), as one launch takes "
                  "their place, and short stretches of Python between them half (2 % to all); kernels follow each "
                  "other within a microsecond. What the host computes, loads and copies stays. NVIDIA's documentation "
                  "says 1.2 to 3 times as fast, often; where the device is busy all the time nothing is gained.",
              .apply = Apply},
    .trial = {.why = "Where the host launches kernels more slowly than the GPU runs them, shapes stay the same and "
                     "nothing waits for the GPU within the model. The model is compiled with CUDA graphs, which replay "
                     "all launches at once. Its inputs are copied to fixed places; memory grows by the graph's own "
                     "pool. Rounds differently, as kernels are fused too. Prior: often 1.2 to 3 times (NVIDIA's guide "
                     "to CUDA graphs in deep learning); Mask R-CNN 1.7 times, BERT 1.12 times (MLPerf 1.0).",
              .effort = Effort::kMedium,
              .choice = {.order = 82, .cures = kCures, .conflicts = kConflicts, .prior = 1.2, .slow_start = true},
              .live = {.between_steps = true},
              .values = Values,
              .changes = Changes::kBoth}};

}  // namespace gapless::internal::cudagraph_fix
