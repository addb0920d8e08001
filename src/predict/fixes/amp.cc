// SPDX-License-Identifier: Apache-2.0
// Automatic mixed precision: matrix work in bf16 or fp16 on matrix units, the rest of forward and backward with half
// the bytes.
//
// Model. Matrix work in fp32 gets two to three times as fast (Daydream, Zhu et al. 2020: 3 on Volta; TF32 on Ampere
// leaves 1.5 to 2 of it), work bound by memory up to twice. The optimiser and the exchange of gradients stay in fp32.
// Autocast casts weights in every step and costs the host some calls. A device with a small ratio of peaks
// (data/devices.csv) gains less, at the most that ratio; one without bf16 is asked for fp16 instead.
//
// Trial. bf16 has the range of fp32. fp16 scales the loss, and its first steps may be left out until the scale fits;
// the comparison of the trainings allows that many and no more (validate/parity.h). fp16 is proposed where the GPU has
// no bf16 (Volta), or the whole grid was asked for.
#include <algorithm>

#include "base/strings.h"
#include "predict/fix.h"
#include "predict/fixes/common/device.h"
#include "predict/fixes/common/op_inputs.h"
#include "predict/fixes/common/passes.h"
#include "predict/fixes/common/values.h"

namespace gapless::internal::amp_fix {
namespace {

constexpr double kCastShare = 0.03;  // share of the kernels' time that casts take
constexpr double kHostMore = 1.05;

// Products of a matrix and a vector keep their time: their weights stay in float32 and are cast in every step.
bool IsMemoryBound(GpuOpClass gpu_op_class) {
  return gpu_op_class == GpuOpClass::kPointwise || gpu_op_class == GpuOpClass::kNorm ||
         gpu_op_class == GpuOpClass::kReduce;
}

// MatrixTime divides the matrix work of a recording: what autocast moves to matrix units, and what it leaves as it is.
struct MatrixTime {
  int64_t all_ns = 0, on_units_ns = 0, moves_ns = 0;
};

MatrixTime DivideMatrixWork(const GpuOpTable& ops, const std::vector<uint8_t>& moves) {
  MatrixTime time;
  for (uint32_t op = 0; op < ops.size(); ++op) {
    if (!IsMatrixWork(ops.op_class[op])) continue;
    time.all_ns += ops.dur_ns[op];
    time.on_units_ns += ops.matrix_unit[op] == MatrixUnit::kYes ? ops.dur_ns[op] : 0;
    time.moves_ns += moves[op] != 0 ? ops.dur_ns[op] : 0;
  }
  return time;
}

std::string NothingToGain(const MatrixTime& time) {
  if (time.all_ns == 0) return "there is no matrix work";
  if (2 * time.on_units_ns > time.all_ns) return "most matrix work runs on matrix units already";
  if (2 * time.moves_ns < time.all_ns) return "most matrix work off the matrix units is not in float32";
  return {};
}

// The peak for a type of 16 bits over that for float32; NaN: the device is not known.
struct Peaks16 {
  double tflops = DevicePeaks::kNone, ratio = DevicePeaks::kNone;
};
Peaks16 PeaksOf(const DevicePeaks* device, bool bf16) {
  if (device == nullptr) return {};
  const double tflops = bf16 ? device->bf16 : device->fp16;
  return {.tflops = tflops, .ratio = tflops / device->fp32};
}

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& item, Estimate estimate, EdgeTimes& times) {
  if (!item.value.empty() && item.value != "bf16" && item.value != "fp16")
    return Fail(ErrorCode::kUsage, "amp takes bf16 or fp16", Printable(item.ToString()));
  const GpuOpTable& ops = input.trace().gpu_ops;
  WhatIfEffect effect;
  if (ops.size() == 0)
    return WhatIfEffect{
        .refusal = "the host computes: what 16 bits bring there depends on its processor, and is not modelled"};
  const DevicePeaks* device = RecordedDevice(input.trace());
  const bool bf16 = item.value == "bf16" || (item.value.empty() && (device == nullptr || device->bf16 > 0));
  const Peaks16 peaks = PeaksOf(device, bf16);
  if (device != nullptr && !(peaks.tflops > 0)) {
    const bool other = bf16 && device->fp16 > 0;
    (other ? effect.refusal : effect.no_effect) =
        StrCat(device->name, other ? " has no matrix units for bf16: ask for amp=fp16" : " has no matrix units");
    return effect;
  }
  const std::vector<uint8_t>& moves = input.Once(Float32OffUnits);
  effect.no_effect = NothingToGain(DivideMatrixWork(ops, moves));
  if (!effect.no_effect.empty()) return effect;
  const double matrix = LeftOfMatrixWork(estimate, 1.5, 2.3, 3.2, peaks.ratio);
  const double memory = ValueFor(estimate, 1 / 1.3, 1 / 1.6, 1 / 2.0);
  const Passes& passes = input.Once(FindPasses);
  ProductBound bound(input.trace(), device, peaks.tflops, 0.5);
  times.ScaleOps([&](uint32_t op) {
    if (passes.of_op[op] == Pass::kOptimizer) return 1.0;
    if (IsMatrixWork(ops.op_class[op])) return (moves[op] != 0 ? std::max(matrix, bound.Of(op)) : 1.0) + kCastShare;
    return IsMemoryBound(ops.op_class[op]) ? memory + kCastShare : 1.0;
  });
  times.ScaleHost([&](uint32_t) { return kHostMore; });
  effect.assumptions.emplace_back(
      device != nullptr ? "the shapes suit matrix units (multiples of 8)"
                        : "the GPU has matrix units for this type, and the shapes suit them (multiples of 8)");
  return effect;
}

constexpr int kVolta = 7, kAmpere = 8;

Precision PrecisionOf(std::string_view value) { return value == "fp16" ? Precision::kFp16 : Precision::kBf16; }

FixValues Values(const FixContext& context) {
  if (!context.gpu) {
    if (context.bf16_cpu) return {.values = {"bf16"}};
    return NoneBecause("this processor does not multiply bfloat16 itself");
  }
  if (context.compute_major > 0 && context.compute_major < kVolta)
    return NoneBecause("mixed precision needs a GPU of compute capability 7.0 or higher");
  if (context.compute_major == kVolta) return {.values = {"fp16"}};
  if (context.all_values || context.compute_major < kAmpere) return {.values = {"bf16", "fp16"}};
  return {.values = {"bf16"}};
}

constexpr std::string_view kTypes[] = {"bf16", "fp16"};
constexpr std::string_view kCures[] = {"no_tensor_cores", "low_matrix_efficiency", "memory_bound", "memory_pressure"};
constexpr std::string_view kConflicts[] = {"cast"};

}  // namespace

FIX(amp) = {
    .name = "amp",
    .help = "Compute in bf16 or fp16 where that is safe, by autocast",
    .safety = Safety::kRounding,
    .model =
        {.value = "[TYPE]",
         .why =
             "Autocast runs matrix work in bf16 or fp16 on matrix units, 2.3 times as fast (1.5 to 3.2: Daydream, Zhu "
             "et al. 2020, takes 3 on Volta; TF32 on Ampere leaves half of it), and work bound by memory moves half "
             "the bytes, 1.6 times as fast (1.3 to 2). The device's ratio of peaks limits it. The optimiser and the "
             "exchange of gradients stay in fp32. Casts add 3 % of the kernels' time, and the host does 5 % more.",
         .apply = Apply},
    .trial = {
        .value = "[TYPE]",
        .grammar = {"bf16 or fp16", IsOneOf<kTypes>},
        .why =
            "Where matrix work runs in fp32, or kernels that move data take the time. The model's forward pass runs "
            "under torch.autocast, what it returns becomes fp32 again, parameters and optimiser stay in fp32. bf16 has "
            "the range of fp32 and needs no scaling of the loss; it is tried on GPUs of compute capability 8.0 or "
            "higher, and on processors that multiply bfloat16. fp16, for older GPUs, scales the loss and leaves out "
            "steps whose gradients overflow: a few at the start, until the scale fits; more are another training, "
            "and are refused. A program that uses autocast, GradScaler or half precision itself is left alone. Prior: "
            "up to 3 times on Volta and newer "
            "(PyTorch's performance tuning guide); on top of TF32 333 to 300 ms, 1.11 times (GPT-2 124M on an A100).",
        .effort = Effort::kMedium,
        .choice = {.order = 70, .cures = kCures, .conflicts = kConflicts, .prior = 1.5, .blind = true},
        .needs = {.operators = kMatrixWork, .operators_are = "matrix product or convolution"},
        .live = {.between_steps = true},
        .precision_of = PrecisionOf,
        .values = Values,
        .changes = Changes::kBoth}};

}  // namespace gapless::internal::amp_fix
