// SPDX-License-Identifier: Apache-2.0
// Switches autograd's anomaly detection off.
//
// Model. After every node of the backward pass autograd searches its gradients for NaN: aten::isnan, aten::_is_any_true
// and, for the answer, aten::item, all called by the engine itself. These calls go, with their kernels and the waits
// for the device. So does the Python code that keeps the stack of each operator of the forward pass, where Python
// functions were recorded: without them that time cannot be told apart, and less is predicted than is gained.
//
// Trial. It is tried even without a finding, because a run costs little.
#include <algorithm>

#include "predict/fix.h"
#include "predict/fixes/common/edits.h"
#include "predict/program.h"
#include "trace/marks.h"

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

// Returns by slice the share of its own host time, 0–1, that is left if it does not keep its Python stack. A graph has
// no Python functions: their time is part of the operator around them.
std::vector<double> WithoutStacks(const Trace& trace) {
  const SliceTable& slices = trace.slices;
  const std::vector<uint8_t> is_program = FindProgram(trace).slices;
  std::vector<uint32_t> around(slices.size(), kNoRowValue);  // slice of the program
  std::vector<int64_t> own_ns(slices.size()), stacks_ns(slices.size());
  for (uint32_t row = 0; row < slices.size(); ++row) {
    own_ns[row] = slices.dur_ns[row];
    const SliceId parent = slices.parent[row];
    if (!parent.valid() || parent.value >= row) continue;
    around[row] = is_program[parent.value] != 0 ? parent.value : around[parent.value];
    if (around[row] == kNoRowValue) continue;
    if (is_program[row] != 0) own_ns[around[row]] -= slices.dur_ns[row];
    if (KeepsForwardStack(trace.Text(slices.name[row]))) stacks_ns[around[row]] += slices.dur_ns[row];
  }
  std::vector<double> left(slices.size(), 1);
  for (size_t row = 0; row < left.size(); ++row)
    if (stacks_ns[row] > 0 && own_ns[row] > 0)
      left[row] = std::max(0.0, 1 - static_cast<double>(stacks_ns[row]) / static_cast<double>(own_ns[row]));
  return left;
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
  const std::vector<double>& left = input.Once(WithoutStacks);
  times.ScaleHost([&](uint32_t slice) {
    if (slice == kNoRowValue) return 1.0;
    return is_inside(slice) ? 0.0 : left[slice];
  });
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
    .model = {.why =
                  "The searches for NaN that autograd makes after every node of the backward pass (aten::isnan, "
                  "aten::_is_any_true, aten::item) are gone, with their kernels and their waits for the device, and so "
                  "is the Python code that keeps the stack of each operator, where Python functions were recorded.",
              .apply = Apply},
    .trial = {.why = "Where torch.autograd.set_detect_anomaly(True), a help for debugging, was left on: every operator "
                     "keeps the Python stack of its forward pass, and every gradient is searched for NaN. It is "
                     "switched off. The numbers stay; a NaN in a gradient no longer ends the run.",
              .effort = Effort::kQuick,
              .choice = {.order = 54, .cures = kCures},
              .live = {.between_steps = true},
              .values = Always}};

}  // namespace gapless::internal::anomaly_fix
