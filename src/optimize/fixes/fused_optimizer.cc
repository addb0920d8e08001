// SPDX-License-Identifier: Apache-2.0
// The fix `fused_optimizer`: one kernel, or one operator, for all parameters. "fused" is tried first; where the
// version of PyTorch has none for processors, only "foreach" is left.
#include "optimize/fix.h"
#include "optimize/fixes/common/values.h"

namespace gapless::internal {
namespace {

FixValues Values(const FixContext& context) {
  // Fused optimisers of processors came with 2.4.
  if (!context.gpu && !context.torch_version.empty() && !TorchIsAtLeast(context, 2, 4)) return {.values = {"foreach"}};
  return {.values = {"fused", "foreach"}};
}

constexpr std::string_view kHows[] = {"fused", "foreach"};
constexpr std::string_view kCures[] = {"unfused_optimizer", "host_optimizer", "tiny_kernels"};

}  // namespace

FIX(fused_optimizer) = {
    FROM_CATALOGUE(kFusedOptimizer),
    .value = "[HOW]",
    .grammar = {"fused or foreach", IsOneOf<kHows>},
    .why =
        "Where the optimiser launches a kernel, or runs an operator, for each parameter. Adam, AdamW, SGD and "
        "Adagrad get fused=True, or foreach=True, also where the program asks for the loop (foreach=False) and "
        "those that exist already; what cannot be stays as it is. Rounds differently (losses differ in the 7th "
        "digit); where Adam keeps its step count changes. The gain is at most the optimiser's share of a step. "
        "Prior: 93 to 90 ms a step, 1.03 times (GPT-2 124M on an A100); 28 to 22 ms, 1.27 times (small model on "
        "a processor).",
    .effort = Effort::kQuick,
    .blind = true,
    .needs_optimizer = true,
    .live = true,
    .order = 90,
    .cures = kCures,
    .prior = 1.05,
    .values = Values};

}  // namespace gapless::internal
