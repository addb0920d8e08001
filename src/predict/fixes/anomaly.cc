// SPDX-License-Identifier: Apache-2.0
// Switches autograd's anomaly detection off.
//
// Model. After every node of the backward pass autograd searches its gradients for NaN: aten::isnan, aten::_is_any_true
// and, for the answer, aten::item, all called by the engine itself. These calls go, with their kernels and the waits
// for the device. That the forward pass keeps the Python stack of each operator costs time that a recording does not
// show apart: what is predicted is a little less than what is gained.
//
// Trial. It is tried even without a finding, because a run costs little.
#include <algorithm>

#include "predict/fix.h"
#include "predict/fixes/common/edits.h"
#include "predict/program.h"

namespace gapless::internal::anomaly_fix {
namespace {

constexpr std::string_view kNode = "autograd::engine::evaluate_function: ";

bool IsSearch(std::string_view name) {
  return name == "aten::isnan" || name == "aten::_is_any_true" || name == "aten::item";
}

// Marks by slice the engine's searches and what is called in them. A parent stands before its children.
std::vector<uint8_t> Searches(const Trace& trace) {
  const SliceTable& slices = trace.slices;
  std::vector<uint8_t> inside(slices.size());
  for (uint32_t row = 0; row < slices.size(); ++row) {
    const SliceId parent = slices.parent[row];
    if (!parent.valid()) continue;
    const bool is_search =
        IsSearch(trace.Text(slices.name[row])) && trace.Text(slices.name[parent.value]).starts_with(kNode);
    inside[row] = is_search || (parent.value < row && inside[parent.value] != 0) ? 1 : 0;
  }
  return inside;
}

// Returns true for an operation of the device that a search launched.
bool IsLaunchedIn(const Trace& trace, const std::vector<uint8_t>& inside, uint32_t op) {
  const SliceId launch = trace.gpu_ops.launch[op];
  return launch.valid() && inside[launch.value] != 0;
}

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& /*item*/, Estimate /*estimate*/,
                           EdgeTimes& times) {
  const Trace& trace = input.trace();
  const std::vector<uint8_t>& inside = input.Once(Searches);
  const auto is_inside = [&](uint32_t slice) { return slice != kNoRowValue && inside[slice] != 0; };
  WhatIfEffect effect;
  if (std::ranges::find(inside, 1) == inside.end()) {
    if (HasHost(FindProgram(trace)))
      effect.no_effect = "autograd does not search gradients for NaN in this recording";
    else
      effect.refusal = kNoHost;
    return effect;
  }
  times.DropWaits(EdgeKind::kSync, is_inside);
  times.ScaleHost([&](uint32_t slice) { return is_inside(slice) ? 0.0 : 1.0; });
  times.ScaleOps([&](uint32_t op) { return IsLaunchedIn(trace, inside, op) ? 0.0 : 1.0; });
  return effect;
}

constexpr std::string_view kCures[] = {"anomaly_detection", "host_bound",   "host_python",
                                       "host_operators",    "launch_bound", "tiny_kernels"};

}  // namespace

FIX(anomaly) = {
    .name = "anomaly",
    .help = "Switch off anomaly detection that was left on",
    .safety = Safety::kExact,
    .model = {.why = "The searches for NaN that autograd makes after every node of the backward pass (aten::isnan, "
                     "aten::_is_any_true, aten::item) are gone, with their kernels and their waits for the device.",
              .apply = Apply},
    .trial = {.why = "Where torch.autograd.set_detect_anomaly(True), a help for debugging, was left on: every operator "
                     "keeps the Python stack of its forward pass, and every gradient is searched for NaN. It is "
                     "switched off. The numbers stay; a NaN in a gradient no longer ends the run.",
              .effort = Effort::kQuick,
              .choice = {.order = 54, .cures = kCures},
              .live = {.between_steps = true},
              .values = Always}};

}  // namespace gapless::internal::anomaly_fix
