// SPDX-License-Identifier: Apache-2.0
// The work of a step is launched as a graph: the host no longer launches kernel by kernel.
//
// One launch takes the place of all in a step, and kernels follow each other within about a microsecond. What the host
// does besides launching stays: loading, the optimiser's bookkeeping where it is not part of the graph.
#include "predict/what_if.h"
#include "trace/marks.h"

namespace gapless::internal {
namespace {

bool IsLaunching(const Trace& trace, uint32_t slice) {
  if (slice == kNoRowValue) return false;
  const SliceCategory category = trace.slices.category[slice];
  if (category == SliceCategory::kRuntime || category == SliceCategory::kDriver)
    return IsLaunch(trace.slices.api[slice]) && trace.slices.api[slice] != ApiKind::kMemcpy;
  return category == SliceCategory::kOperator && !IsDataLoadingMark(trace.Text(trace.slices.name[slice]));
}

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& /*item*/, Case which, EdgeTimes& times) {
  const Trace& trace = input.trace();
  WhatIfEffect effect;
  for (uint32_t row = 0; row < trace.slices.size(); ++row)
    if (trace.slices.api[row] == ApiKind::kGraphLaunch) effect.nothing = "the step is launched as graphs already";
  if (!effect.nothing.empty()) return effect;
  times.ScaleHost([&](uint32_t slice) { return IsLaunching(trace, slice) ? Pick(which, 0.5, 0.1, 0.02) : 1.0; });
  effect.assumptions.emplace_back(
      "shapes and control flow are the same in every step, and nothing in it waits for the device");
  return effect;
}

}  // namespace

WHATIF(cudagraph) = {.name = "cudagraph",
                     .help = "A step is launched as one CUDA graph",
                     .why =
                         "The host's launches and the operators around them cost a tenth (2 to 50 %), as one launch "
                         "takes their place; kernels follow each other as they did. What else the host does stays. "
                         "NVIDIA's documentation says 1.2 to 3 times as fast, often; where the device is busy all "
                         "the time nothing is gained.",
                     .safety = Safety::kExact,
                     .apply = Apply};

}  // namespace gapless::internal
