// SPDX-License-Identifier: Apache-2.0
#include "predict/fix.h"
#include "predict/fixes/common/packaged.h"
#include "predict/fixes/common/values.h"

namespace gapless::internal::transformer_engine_fix {
namespace {

FixValues Values(const FixContext& context) {
  if (!context.gpu) return NoneBecause("processors do not multiply in float8");
  return {.values = {""}};
}

constexpr std::string_view kCures[] = {"low_matrix_efficiency", "no_tensor_cores"};
constexpr std::string_view kConflicts[] = {"float8"};

}  // namespace

FIX(transformer_engine) = {
    .name = "transformer_engine",
    .help = "Multiply large linear layers in float8 (Transformer Engine)",
    .safety = Safety::kTraining,
    .trial = {
        .why = "Where large linear layers take most of a step and the model is not compiled: those whose sizes "
               "are multiples of 16 multiply in 8-bit floating point, in the kernels of Transformer Engine, with "
               "a scale for each tensor. Each is first held against its layer, forward and backward, as far as "
               "such numbers go. Another training: the products are coarser, so compare its curve of losses. "
               "Prior: that of float8, at most 1.25 times (8B parameters on 8 H100); layers of few features lose.",
        .effort = Effort::kMedium,
        .choice = {.order = 88, .cures = kCures, .conflicts = kConflicts, .prior = 1.05, .after = kAfterCompiler},
        .needs = {.operators = kMatrixWork,
                  .operators_are = "matrix product",
                  .package = {.name = "transformer-engine",
                              .version = "2.9",
                              .install = "pip install --no-build-isolation transformer_engine[pytorch]",
                              .compute_major = 8,
                              .compute_minor = 9}},
        .values = Values}};

}  // namespace gapless::internal::transformer_engine_fix
