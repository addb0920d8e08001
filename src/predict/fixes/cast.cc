// SPDX-License-Identifier: Apache-2.0
#include "predict/fix.h"
#include "predict/fixes/common/values.h"

namespace gapless::internal::cast_fix {
namespace {

constexpr int kVolta = 7, kAmpere = 8;
constexpr std::string_view kTypes[] = {"bf16", "fp16"};
constexpr std::string_view kCures[] = {"no_tensor_cores", "low_matrix_efficiency", "memory_bound",
                                       "small_decode_batch"};
constexpr std::string_view kConflicts[] = {"amp"};

Precision PrecisionOf(std::string_view value) { return value == "fp16" ? Precision::kFp16 : Precision::kBf16; }

FixValues Values(const FixContext& context) {
  if (!context.gpu) {
    if (context.bf16_cpu) return {.values = {"bf16"}};
    return NoneBecause("this processor does not multiply bfloat16 itself");
  }
  if (context.compute_major > 0 && context.compute_major < kVolta)
    return NoneBecause("16-bit weights need a GPU of compute capability 7.0 or higher");
  if (context.compute_major == kVolta) return {.values = {"fp16"}};
  return {.values = {"bf16"}, .alone = {"fp16"}};
}

}  // namespace

FIX(cast) = {
    .name = "cast",
    .help = "Keep the weights of a model that infers in bf16 or fp16",
    .safety = Safety::kRounding,
    .trial = {
        .value = "TYPE",
        .grammar = {"bf16 or fp16", IsOneOf<kTypes>},
        .why = "Where a program infers in fp32: weights, inputs and what lies between become 16 bits, the outputs "
               "fp32 again. It reads half the bytes, which is most of the time of a model that writes text for "
               "few readers, and multiplies on matrix units. Unlike amp it casts nothing in between, and no "
               "operator stays in fp32. Prior: up to 2 times where reading weights takes the time.",
        .effort = Effort::kMedium,
        .choice = {.order = 71, .cures = kCures, .conflicts = kConflicts, .prior = 1.5, .blind = true},
        .needs = {.operators = kMatrixWork, .operators_are = "matrix product or convolution"},
        .precision_of = PrecisionOf,
        .values = Values,
        .changes = Changes::kInference}};

}  // namespace gapless::internal::cast_fix
