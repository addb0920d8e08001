// SPDX-License-Identifier: Apache-2.0
#include "predict/fix.h"
#include "predict/fixes/common/packaged.h"
#include "predict/fixes/common/values.h"

namespace gapless::internal::float8_fix {
namespace {

FixValues Values(const FixContext& context) {
  if (!context.gpu) return NoneBecause("processors do not multiply in float8");
  return {.values = {""}};
}

constexpr std::string_view kCures[] = {"low_matrix_efficiency", "no_tensor_cores"};
constexpr std::string_view kConflicts[] = {"transformer_engine"};

}  // namespace

FIX(float8) = {
    .name = "float8",
    .help = "Multiply large linear layers in float8",
    .safety = Safety::kTraining,
    .trial = {.why = "Where large linear layers take most of a step: those whose sizes are multiples of 16 multiply in "
                     "8-bit floating point (torchao.float8), with a scale for each tensor. It needs the compiler to be "
                     "quick, and layers of several thousand features to gain. Another training: the products are "
                     "coarser, so compare its curve of losses. Prior: at most 1.25 times (8B parameters on 8 H100); a "
                     "layer of 1024 × 1024 took 2.57 instead of 0.28 ms.",
              .effort = Effort::kMedium,
              .choice = {.order = 87, .cures = kCures, .conflicts = kConflicts, .prior = 1.05, .after = kAfterCompiler},
              .needs = {.operators = kMatrixWork,
                        .operators_are = "matrix product",
                        .package = {.name = "torchao",
                                    .version = "0.9",
                                    .install = "pip install torchao",
                                    .compute_major = 8,
                                    .compute_minor = 9}},
              .values = Values}};

}  // namespace gapless::internal::float8_fix
