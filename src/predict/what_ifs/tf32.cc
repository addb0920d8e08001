// SPDX-License-Identifier: Apache-2.0
// Matrix work in fp32 runs on matrix units with inputs rounded to TF32. Other work stays.
//
// GPT-2 124M on an A100 went from 1000 to 333 ms a step; convolutions gain less.
#include "predict/what_if.h"
#include "predict/what_ifs/common/op_inputs.h"

namespace gapless::internal {
namespace {

constexpr int32_t kAmpere = 8;

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& /*item*/, Case which, EdgeTimes& times) {
  const Trace& trace = input.trace();
  const GpuOpTable& ops = trace.gpu_ops;
  WhatIfEffect effect;
  for (size_t row = 0; row < trace.devices.size(); ++row) {
    const int32_t major = trace.devices.compute_major[row];
    if (trace.devices.vendor[row] == Vendor::kNvidia && major != kAbsent32 && major < kAmpere)
      effect.refusal = "this GPU has no TF32: it needs compute capability 8.0";
  }
  size_t count = 0;
  const std::vector<uint8_t> float32 = Float32OffUnits(trace);
  const auto gains = [&](uint32_t op) {
    return (ops.op_class[op] == GpuOpClass::kGemm || ops.op_class[op] == GpuOpClass::kConv) &&
           ops.matrix_unit[op] == MatrixUnit::kNo && float32[op] != 0;
  };
  for (uint32_t op = 0; op < ops.size(); ++op) count += gains(op) ? 1 : 0;
  if (count == 0 && effect.refusal.empty()) effect.nothing = "no matrix work in float32 off matrix units was recorded";
  if (!effect.refusal.empty() || !effect.nothing.empty()) return effect;
  times.ScaleOps([&](uint32_t op) { return gains(op) ? Pick(which, 0.75, 0.45, 0.33) : 1.0; });
  return effect;
}

}  // namespace

WHATIF(tf32) = {.name = "tf32",
                .help = "fp32 matrix work runs on matrix units as TF32",
                .why =
                    "Products and convolutions in fp32 off matrix units take 45 % of their time (33 to 75 %). "
                    "GPT-2 124M on an A100 went from 1000 to 333 ms a step; convolutions gain less.",
                .safety = Safety::kRounding,
                .apply = Apply};

}  // namespace gapless::internal
