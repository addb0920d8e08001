// SPDX-License-Identifier: Apache-2.0
// The fix `tf32`: matrix products of fp32 on tensor cores. Proposed for compute capability 8.0 or higher, or
// unknown.
#include "optimize/fix.h"

namespace gapless::internal {
namespace {

constexpr int kAmpere = 8;

FixValues Values(const FixContext& context) {
  if (!context.gpu) return NoneBecause("there is no GPU with TF32");
  if (context.compute_major > 0 && context.compute_major < kAmpere)
    return NoneBecause("TF32 needs a GPU of compute capability 8.0 or higher");
  return {.values = {""}};
}

constexpr std::string_view kCures[] = {"no_tensor_cores", "low_matrix_efficiency"};

}  // namespace

FIX(tf32) = {
    FROM_CATALOGUE(kTf32),
    .why =
        "Where products in fp32 run off the matrix units of an Ampere or newer GPU. "
        "torch.set_float32_matmul_precision(\"high\") rounds their inputs to 10 bits of mantissa, sums stay in "
        "fp32; convolutions do so by default. A program that reads or sets the precision by the newer "
        "torch.backends interface itself is left alone. Prior: 1000 to 333 ms a step, 3 times (GPT-2 124M on an "
        "A100); models of convolutions gain less.",
    .effort = Effort::kQuick,
    .precision_of = [](std::string_view /*value*/) { return Precision::kTf32; },
    .live = true,
    .order = 50,
    .cures = kCures,
    .prior = 1.5,
    .values = Values};

}  // namespace gapless::internal
