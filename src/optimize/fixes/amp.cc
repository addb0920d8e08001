// SPDX-License-Identifier: Apache-2.0
// The fix `amp`: automatic mixed precision with bf16, or with fp16 and a gradient scaler.
//
// bf16 only rounds; fp16 may leave out steps whose gradients overflow, which is another training. So the safety
// class depends on the value, and fp16 is proposed where the GPU has no bf16 (Volta), or the whole grid was asked
// for.
#include "optimize/fix.h"
#include "optimize/fixes/common/values.h"

namespace gapless::internal {
namespace {

constexpr int kVolta = 7, kAmpere = 8;

Safety ClassOf(std::string_view value) { return value == "fp16" ? Safety::kTraining : Safety::kRounding; }

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

}  // namespace

FIX(amp) = {
    FROM_CATALOGUE(kAmp),
    .value = "[TYPE]",
    .grammar = {"bf16 or fp16", IsOneOf<kTypes>},
    .why =
        "Where matrix work runs in fp32, or kernels that move data take the time. The model's forward pass runs "
        "under torch.autocast, what it returns becomes fp32 again, parameters and optimiser stay in fp32. bf16 "
        "has the range of fp32 and needs no scaling of the loss; it is tried on GPUs of compute capability 8.0 "
        "or higher, and on processors that multiply bfloat16. fp16, for older GPUs, scales the loss and leaves "
        "out steps whose gradients overflow: another training, and so only where you allow it. A program that "
        "uses autocast, GradScaler or half precision itself is left alone. Prior: up to 3 times on Volta and "
        "newer (PyTorch's performance tuning guide); on top of TF32 333 to 300 ms, 1.11 times (GPT-2 124M on an "
        "A100).",
    .class_of = ClassOf,
    .effort = Effort::kMedium,
    .blind = true,
    .precision_of = PrecisionOf,
    .live = true,
    .operators = kMatrixWork,
    .operators_are = "matrix product or convolution",
    .order = 70,
    .cures = kCures,
    .prior = 1.5,
    .values = Values};

}  // namespace gapless::internal
