// SPDX-License-Identifier: Apache-2.0
// The fix `compile`: torch.compile of the model in place. Modes with CUDA graphs are proposed only on a GPU, and
// the search for kernels, which takes longest, only with the whole grid.
#include "optimize/fix.h"
#include "optimize/fixes/common/values.h"

namespace gapless::internal {
namespace {

FixValues Values(const FixContext& context) {
  if (!context.torch_version.empty() && !TorchIsAtLeast(context, 2, 0))
    return NoneBecause("torch.compile came with 2.0");
  if (!context.gpu) return {.values = {"default"}};
  if (context.all_values) return {.values = {"default", "reduce-overhead", "max-autotune"}};
  return {.values = {"default", "reduce-overhead"}};
}

constexpr std::string_view kModes[] = {"default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"};
constexpr std::string_view kCures[] = {"unfused_pointwise", "launch_bound", "memory_bound",   "tiny_kernels",
                                       "low_occupancy",     "host_bound",   "host_operators", "unfused_conv_bn"};
constexpr std::string_view kConflicts[] = {fixes::kCudagraph.name, fixes::kCheckpoint.name,
                                           fixes::kCheckpointBatch.name};

}  // namespace

FIX(compile) = {
    FROM_CATALOGUE(kCompile),
    .value = "[MODE]",
    .grammar = {"default, reduce-overhead, max-autotune or max-autotune-no-cudagraphs", IsOneOf<kModes>},
    .why =
        "Where many small kernels, or Python between operators, take the time, and shapes stay the same. The "
        "model is compiled in place (Module.compile), so the keys of its state stay. Mode `reduce-overhead` adds "
        "CUDA graphs, `max-autotune` searches for kernels. Compiling takes from seconds to minutes, and again "
        "for each new shape: the report has the number of steps after which it pays off. Rounds "
        "differently, and draws other masks for dropout. Prior: 1.43 times in the mean over 163 models on an A100 "
        "(fp32 1.21, mixed precision 1.51; "
        "PyTorch 2.0 release), 300 to 130 ms (GPT-2 124M); but also 72 to 103 ms (DeBERTa, pytorch#98441).",
    .effort = Effort::kQuick,
    .slow_start = true,
    .live = true,
    .order = 80,
    .cures = kCures,
    .conflicts = kConflicts,
    .prior = 1.3,
    .values = Values};

}  // namespace gapless::internal
