// SPDX-License-Identifier: Apache-2.0
// Convolutions run in NHWC (channels_last): what turns tensors into that layout and back for them goes away.
//
// Model. Kernels that only change a layout go, but for those at the borders of the model. A convolution that is
// surrounded by them is computed in NHWC already and keeps its time; one in half precision that is not gets a kernel
// that suits tensor cores better.
//
// Prior. ResNet-50 in mixed precision on a V100 went from 260 to 198 ms, other networks gained 1.08 to 1.35 (PyTorch's
// memory format tutorial): the step, layout changes included. Convolutions in fp32 off tensor cores gain nothing.
// Grouped and depthwise convolutions can get slower: many times so in the worst reports, half as long again in the
// cautious case.
#include "analyses/kernel_names.h"
#include "analyses/work_type.h"
#include "predict/fix.h"
#include "predict/fixes/common/edits.h"
#include "predict/fixes/common/op_inputs.h"
#include "predict/fixes/common/values.h"

namespace gapless::internal::channels_last_fix {
namespace {

enum class Conv : uint8_t { kNone, kLayoutChange, kKeepsTime, kGains, kGrouped, kUnknown };

bool IsGrouped(std::string_view name, const std::vector<Input>& inputs) {
  const size_t first = name.ends_with("convolution_backward") ? 1 : 0;  // index into (gradient, input, weight)
  if (inputs.size() < first + 2) return false;
  const Shape &input = inputs[first].shape, &weight = inputs[first + 1].shape;
  return input.size() >= 3 && weight.size() == input.size() && weight[1] > 0 && input[1] > weight[1];
}

class Convolutions {
 public:
  explicit Convolutions(const Trace& trace)
      : launches_change(trace.slices.size()), trace_(trace), inputs_(trace), changes_(trace.slices.size()) {
    const GpuOpTable& ops = trace.gpu_ops;
    std::vector<uint8_t> is_change(trace.strings.size());
    for (size_t id = 0; id < is_change.size(); ++id)
      is_change[id] = ChangesLayout(trace.strings[static_cast<StringId>(id)]) ? 1 : 0;
    kinds.resize(ops.size());
    for (uint32_t op = 0; op < ops.size(); ++op) {
      if (ops.kind[op] != GpuOpKind::kKernel || is_change[static_cast<uint32_t>(ops.name[op])] == 0) continue;
      kinds[op] = Conv::kLayoutChange;
      if (ops.op[op].valid()) changes_[ops.op[op].value] = 1;
      if (ops.launch[op].valid()) launches_change[ops.launch[op].value] = 1;
    }
    for (uint32_t op = 0; op < ops.size(); ++op)
      if (kinds[op] == Conv::kNone && ops.op_class[op] == GpuOpClass::kConv) kinds[op] = KindOf(op);
    for (const Conv kind : kinds) ++counts[static_cast<size_t>(kind)];
  }

  size_t Count(Conv kind) const { return counts[static_cast<size_t>(kind)]; }

  std::vector<Conv> kinds{};             // by operation
  std::vector<uint8_t> launches_change;  // by slice
  size_t counts[6] = {};

 private:
  Conv KindOf(uint32_t op) {
    const GpuOpTable& ops = trace_.gpu_ops;
    const SliceId by = ops.op[op];
    if (by.valid() && IsGrouped(trace_.Text(trace_.slices.name[by.value]), inputs_.Of(by))) return Conv::kGrouped;
    if (by.valid() && changes_[by.value] != 0) return Conv::kKeepsTime;
    const std::string_view name = trace_.Text(ops.name[op]);
    if (name.find("nhwc") != name.npos || name.find("NHWC") != name.npos) return Conv::kKeepsTime;
    const ElementType type = inputs_.TypeOf(by);
    if (type == ElementType::kFp16 || type == ElementType::kBf16) return Conv::kGains;
    if (type != ElementType::kUnknown || ops.matrix_unit[op] == MatrixUnit::kNo) return Conv::kKeepsTime;
    return Conv::kUnknown;
  }

  const Trace& trace_;
  OpInputs inputs_;
  std::vector<uint8_t> changes_;  // by slice: it launches layout changes
};

Convolutions FindConvolutions(const Trace& trace) { return Convolutions(trace); }

// Does the host compute convolutions itself?
bool HostConvolves(const Trace& trace) {
  if (trace.gpu_ops.size() > 0) return false;
  for (size_t id = 0; id < trace.strings.size(); ++id) {
    const std::string_view name = trace.strings[static_cast<StringId>(id)];
    if (name.starts_with("aten::") && WorkTypeOfOperator(name) == WorkType::kConv) return true;
  }
  return false;
}

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& /*item*/, Estimate estimate, EdgeTimes& times) {
  const Convolutions& found = input.Once(FindConvolutions);
  const size_t changes = found.Count(Conv::kLayoutChange), gain = found.Count(Conv::kGains),
               grouped = found.Count(Conv::kGrouped), unknown = found.Count(Conv::kUnknown);
  WhatIfEffect effect;
  if (HostConvolves(input.trace()))
    effect.refusal = "the host computes the convolutions: what another layout brings there is not modelled";
  else if (changes + gain + grouped + unknown + found.Count(Conv::kKeepsTime) == 0)
    effect.no_effect = "no convolution was recorded";
  else if (changes + gain + unknown == 0)
    effect.no_effect = "no kernel changes a layout, and no convolution in half precision is left in NCHW";
  else if (changes + gain == 0)
    effect.refusal = "what type the convolutions compute in was not recorded";
  if (!effect.no_effect.empty() || !effect.refusal.empty()) return effect;
  const double left = ValueFor(estimate, 0.5, 0.2, 0);
  times.ScaleHost(
      [&](uint32_t slice) { return slice != kNoRowValue && found.launches_change[slice] != 0 ? left : 1.0; });
  times.ScaleOps([&](uint32_t op) {
    switch (found.kinds[op]) {
      case Conv::kLayoutChange: return left;
      case Conv::kGains: return ValueFor(estimate, 1.0, 1 / 1.2, 1 / 1.35);
      case Conv::kGrouped: return ValueFor(estimate, 1.5, 1.0, 1.0);
      default: return 1.0;
    }
  });
  effect.assumptions.emplace_back("the model and its batches are in channels_last, and every layer keeps it");
  if (grouped > 0) effect.assumptions.emplace_back("the library has kernels in NHWC for grouped convolutions");
  return effect;
}

constexpr std::string_view kCures[] = {"layout_changes"};

}  // namespace

FIX(channels_last) = {
    .name = "channels_last",
    .help = "Keep images and convolutions in NHWC",
    .safety = Safety::kRounding,
    .model = {.why = "Kernels that only change a layout go (80 %, 50 to 100 %), convolutions in half precision get 1.2 "
                     "times as fast (1 to 1.35: PyTorch's memory format tutorial), those in fp32 off matrix units "
                     "stay, grouped ones may take half as long again.",
              .apply = Apply},
    .trial = {.why = "Where kernels only turn tensors from NCHW to NHWC and back around convolutions. The model and "
                     "its 4-dimensional inputs change their memory format once; shapes stay. Other kernels round "
                     "differently. Convolutions with groups may become far slower (30 to 40 times in one report, "
                     "pytorch#34977), and code that calls view() on activations fails: it is measured before it is "
                     "kept. Prior: 260 to 198 ms a step, 1.22 to 1.31 times (ResNet-50 with mixed precision), 1.08 to "
                     "1.35 times on Volta (PyTorch's memory format tutorial).",
              .effort = Effort::kQuick,
              .choice = {.order = 62, .cures = kCures, .prior = 1.22, .blind = true},
              .needs = {.operators = kConvolutions, .operators_are = "convolution"},
              .values = Always,
              .changes = Changes::kBoth}};

}  // namespace gapless::internal::channels_last_fix
