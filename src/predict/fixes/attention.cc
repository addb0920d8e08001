// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "predict/fix.h"
#include "predict/fixes/common/packaged.h"
#include "predict/fixes/common/values.h"

namespace gapless::internal::attention_fix {
namespace {

// The kernels of cuDNN are for GPUs from compute capability 8.0 on.
FixValues Values(const FixContext& context) {
  if (!context.gpu) return NoneBecause("processors have one kernel for attention");
  FixValues found{.values = {"flash"}};
  if (context.compute_major == 0 || context.compute_major >= 8) found.values.insert(found.values.begin(), "cudnn");
  if (!context.packages || context.packages->contains("flash-attn")) found.values.emplace_back("flash_attn");
  if (context.all_values) found.values.emplace_back("flex"), found.values.emplace_back("efficient");
  return found;
}

constexpr std::string_view kKernels[] = {"cudnn", "flash", "efficient", "math", "flash_attn", "flex"};
constexpr std::string_view kOperators[] = {"attention", "softmax"};
constexpr std::string_view kCures[] = {"eager_attention", "memory_bound"};
constexpr std::string_view kAfter[] = {fixes::kSdpa.name};

}  // namespace

FIX(attention) = {
    .name = "attention",
    .help = "Compute attention by another kernel",
    .safety = Safety::kStochastic,
    .trial = {.value = "KERNEL",
              .grammar = {"cudnn, flash, efficient, math, flash_attn or flex", IsOneOf<kKernels>},
              .why = "Where scaled_dot_product_attention runs in a kernel of torch: another one is asked first, and "
                     "takes what it can. A model of transformers can also change to the package flash-attn "
                     "(`flash_attn`) or to FlexAttention (`flex`). Rounds differently; dropout within the attention "
                     "draws other random numbers. Prior: the order of torch is mostly right; cuDNN is ahead on Hopper.",
              .effort = Effort::kQuick,
              .choice = {.order = 59, .cures = kCures, .prior = 1.02, .after = kAfter},
              .needs = {.operators = kOperators, .operators_are = "attention"},
              .values = Values,
              .changes = Changes::kBoth}};

}  // namespace gapless::internal::attention_fix
