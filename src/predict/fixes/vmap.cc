// SPDX-License-Identifier: Apache-2.0
// The fix `vmap`: runs a function over all rows of a tensor at once instead of in a Python loop. The agent
// compares both ways the first time, and keeps the loop where they differ.
#include "predict/fix.h"

namespace gapless::internal::vmap_fix {
namespace {

FixValues Values(const FixContext& context) {
  if (!context.torch_version.empty() && !TorchIsAtLeast(context, 2, 0)) return NoneBecause("torch.func came with 2.0");
  return Always(context);
}

constexpr std::string_view kCures[] = {"host_operators", "host_python", "host_bound", "launch_bound", "tiny_kernels"};

}  // namespace

FIX(vmap) = {
    .name = "vmap",
    .help = "Run Python loops over the rows of a tensor as one torch.vmap",
    .safety = Safety::kRounding,
    .trial = {.why = "Where a function of the program computes something for each row of a tensor and only stacks the "
                     "results: `torch.stack([f(row) for row in batch])`, or the same with `append`; also over `zip(a, "
                     "b)`. torch.vmap calls each operator once for all rows. The first time both ways are computed: a "
                     "loop whose results differ, that draws random numbers, or that torch.vmap cannot run stays a "
                     "loop. What f does besides computing, counting or printing, happens once instead of once per row. "
                     "A loop in the function that holds the training loop stays too. Rounds differently. The gain is "
                     "what calling the operators takes, times the rows. No figure is known.",
              .effort = Effort::kMedium,
              .choice = {.order = 68, .cures = kCures},
              .live = {.between_steps = true},
              .values = Values}};

}  // namespace gapless::internal::vmap_fix
