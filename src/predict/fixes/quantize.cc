// SPDX-License-Identifier: Apache-2.0
#include "predict/fix.h"
#include "predict/fixes/common/values.h"

namespace gapless::internal::quantize_fix {
namespace {

constexpr int kAda = 8, kAdaMinor = 9;
constexpr std::string_view kTypes[] = {"int8", "float8"};
constexpr std::string_view kCures[] = {"memory_bound", "small_decode_batch", "low_matrix_efficiency"};

FixValues Values(const FixContext& context) {
  FixValues values{.values = {"int8"}};
  const bool has_float8 =
      context.compute_major > kAda || (context.compute_major == kAda && context.compute_minor >= kAdaMinor);
  if (context.gpu && has_float8) values.alone = {"float8"};
  return values;
}

}  // namespace

FIX(quantize) = {
    .name = "quantize",
    .help = "Keep the weights of linear layers in 8 bits (torchao)",
    .safety = Safety::kQuantized,
    .trial = {
        .value = "TYPE",
        .grammar = {"int8 or float8", IsOneOf<kTypes>},
        .why = "Where a program infers and reading the weights of linear layers takes the time: torchao keeps "
               "them in 8 bits, whole numbers or floating point, with a scale for each row, and multiplies by "
               "them as they are read. It is a class of its own, which --allow quantized opens: answers change by "
               "as much as rounding every weight to 8 bits changes them, and are refused beyond that. Measure "
               "the quality of what the model answers, too. Prior: up to 2 times where one row at a time is "
               "computed, and only beside compile.",
        .effort = Effort::kMedium,
        .choice = {.order = 72, .cures = kCures, .prior = 1.3, .blind = true},
        .needs = {.operators = kMatrixWork,
                  .operators_are = "matrix product",
                  .package = {.name = "torchao", .version = "0.9", .install = "pip install torchao"}},
        .precision_of = [](std::string_view /*value*/) { return Precision::kInt8; },
        .values = Values,
        .changes = Changes::kInference}};

}  // namespace gapless::internal::quantize_fix
