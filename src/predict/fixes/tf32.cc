// SPDX-License-Identifier: Apache-2.0
// Matrix work in fp32 runs on matrix units with inputs rounded to TF32. Other work stays.
//
// Model. GPT-2 124M on an A100 went from 1000 to 333 ms a step; convolutions gain less. An A100 has eight times the
// arithmetic for TF32 that it has for fp32. Devices with a smaller ratio gain less, at the most that ratio
// (data/devices.csv); those without TF32 gain nothing.
//
// Trial. Proposed for compute capability 8.0 or higher, or unknown.
#include <algorithm>

#include "base/strings.h"
#include "predict/fix.h"
#include "predict/fixes/common/device.h"
#include "predict/fixes/common/op_inputs.h"

namespace gapless::internal::tf32_fix {
namespace {

constexpr int32_t kAmpere = 8;

bool IsTooOld(const Trace& trace, const DevicePeaks* device) {
  if (device != nullptr) return !(device->tf32 > 0);
  for (size_t row = 0; row < trace.devices.size(); ++row) {
    const int32_t major = trace.devices.compute_major[row];
    if (trace.devices.vendor[row] == Vendor::kNvidia && major != kAbsent32 && major < kAmpere) return true;
  }
  return false;
}

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& /*item*/, Estimate estimate, EdgeTimes& times) {
  const Trace& trace = input.trace();
  const GpuOpTable& ops = trace.gpu_ops;
  const DevicePeaks* device = RecordedDevice(trace);
  WhatIfEffect effect;
  const std::vector<uint8_t>& float32 = input.Once(Float32OffUnits);
  const auto gains = [&](uint32_t op) {
    return (ops.op_class[op] == GpuOpClass::kGemm || ops.op_class[op] == GpuOpClass::kConv) &&
           ops.matrix_unit[op] == MatrixUnit::kNo && float32[op] != 0;
  };
  size_t count = 0;
  for (uint32_t op = 0; op < ops.size(); ++op) count += gains(op) ? 1 : 0;
  if (IsTooOld(trace, device))
    effect.no_effect = "this GPU has no TF32: its float32 products stay as they are";
  else if (count == 0)
    effect.no_effect = "no matrix work in float32 off matrix units was recorded";
  if (!effect.no_effect.empty()) return effect;
  const double ratio = device != nullptr ? device->tf32 / device->fp32 : DevicePeaks::kNone;
  const double left = LeftOfMatrixWork(estimate, 1.33, 2.2, 3, ratio);
  ProductBound bound(trace, device, device != nullptr ? device->tf32 : 0, 1);
  times.ScaleOps([&](uint32_t op) { return gains(op) ? std::max(left, bound.Of(op)) : 1.0; });
  if (device == nullptr) effect.assumptions.emplace_back("the GPU has several times the arithmetic for TF32");
  return effect;
}

FixValues Values(const FixContext& context) {
  if (!context.gpu) return NoneBecause("there is no GPU with TF32");
  if (context.compute_major > 0 && context.compute_major < kAmpere)
    return NoneBecause("TF32 needs a GPU of compute capability 8.0 or higher");
  return {.values = {""}};
}

constexpr std::string_view kCures[] = {"no_tensor_cores", "low_matrix_efficiency"};

}  // namespace

FIX(tf32) = {
    .name = "tf32",
    .help = "Run fp32 matrix work on matrix units as TF32",
    .safety = Safety::kRounding,
    .model =
        {.why =
             "Products and convolutions in fp32 off matrix units get 2.2 times as fast (1.33 to 3), or less where the "
             "device's peak for TF32 is not several times that for fp32, and never faster than their arithmetic and "
             "memory traffic allow. GPT-2 124M on an A100 went from 1000 to 333 ms a step; convolutions gain less.",
         .apply = Apply},
    .trial = {.why = "Where products in fp32 run off the matrix units of an Ampere or newer GPU. "
                     "torch.set_float32_matmul_precision(\"high\") rounds their inputs to 10 bits of mantissa, sums "
                     "stay in fp32; convolutions do so by default. A program that reads or sets the precision by the "
                     "newer torch.backends interface itself is left alone. Prior: 1000 to 333 ms a step, 3 times "
                     "(GPT-2 124M on an A100); models of convolutions gain less.",
              .effort = Effort::kQuick,
              .choice = {.order = 50, .cures = kCures, .prior = 1.5},
              .live = {.between_steps = true},
              .precision_of = [](std::string_view /*value*/) { return Precision::kTf32; },
              .values = Values,
              .changes = Changes::kBoth}};

}  // namespace gapless::internal::tf32_fix
