// SPDX-License-Identifier: Apache-2.0
// Matrix work in fp32 runs on matrix units with inputs rounded to TF32. Other work stays.
//
// GPT-2 124M on an A100 went from 1000 to 333 ms a step; convolutions gain less. An A100 has eight times the arithmetic
// for TF32 that it has for fp32. Devices with a smaller ratio gain less, at the most that ratio (data/devices.csv);
// those without TF32 gain nothing.
#include <algorithm>

#include "base/strings.h"
#include "predict/what_if.h"
#include "predict/what_ifs/common/device.h"
#include "predict/what_ifs/common/op_inputs.h"

namespace gapless::internal {
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
    effect.nothing = "this GPU has no TF32: its float32 products stay as they are";
  else if (count == 0)
    effect.nothing = "no matrix work in float32 off matrix units was recorded";
  if (!effect.nothing.empty()) return effect;
  const double ratio = device != nullptr ? device->tf32 / device->fp32 : DevicePeaks::kNone;
  const double left = LeftOfMatrixWork(estimate, 1.33, 2.2, 3, ratio);
  ProductBound bound(trace, device, device != nullptr ? device->tf32 : 0, 1);
  times.ScaleOps([&](uint32_t op) { return gains(op) ? std::max(left, bound.Of(op)) : 1.0; });
  if (device == nullptr) effect.assumptions.emplace_back("the GPU has several times the arithmetic for TF32");
  return effect;
}

}  // namespace

WHATIF(tf32) = {
    FROM_CATALOGUE(kTf32),
    .why =
        "Products and convolutions in fp32 off matrix units get 2.2 times as fast (1.33 to 3), or less where "
        "the device's peak for TF32 is not several times that for fp32, and never faster than their "
        "arithmetic and memory traffic allow. GPT-2 124M on an A100 went from 1000 to 333 ms a step; "
        "convolutions gain less.",
    .apply = Apply};

}  // namespace gapless::internal
