// SPDX-License-Identifier: Apache-2.0
// The fix `allocator`: settings of PyTorch's caching allocator.
#include "predict/fix.h"

namespace gapless::internal::allocator_fix {
namespace {

FixValues Values(const FixContext& context) {
  if (!context.gpu) return NoneBecause("it is about the memory of GPUs");
  if (!context.torch_version.empty() && !TorchIsAtLeast(context, 2, 1))
    return NoneBecause("expandable segments came with PyTorch 2.1");
  return {.values = {""}};
}

// Returns the variable in the name that this version of PyTorch wants.
std::vector<std::string> Environment(const FixContext& context, std::string_view /*value*/) {
  // Every version reads the old name; the newer ones complain.
  const bool newer = TorchIsAtLeast(context, 2, 9);
  return {newer ? "PYTORCH_ALLOC_CONF=expandable_segments:True" : "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"};
}

constexpr std::string_view kCures[] = {"allocation", "memory_pressure"};

}  // namespace

FIX(allocator) = {
    .name = "allocator",
    .help = "Let the memory of the GPU grow in segments",
    .safety = Safety::kExact,
    .trial = {.why = "Where memory is allocated and freed within steps, or fragments until a step no longer fits. "
                     "PYTORCH_ALLOC_CONF=expandable_segments:True (PYTORCH_CUDA_ALLOC_CONF before 2.9) is set before "
                     "CUDA starts; settings of yours stay and win. Not together with sharing GPU memory between "
                     "processes. The numbers stay. Prior: 21.6 to 20.6 s a step, 1.05 times, and 16.4 to 10.8 GiB "
                     "(QLoRA of Llama 3 8B on an A100, torchtune#1185).",
              .effort = Effort::kQuick,
              .choice = {.order = 10, .cures = kCures, .prior = 1.02},
              .live = {.between_steps = true},
              .values = Values,
              .environment = Environment,
              .changes = Changes::kBoth}};

}  // namespace gapless::internal::allocator_fix
