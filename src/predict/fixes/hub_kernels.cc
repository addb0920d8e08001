// SPDX-License-Identifier: Apache-2.0
#include "predict/fix.h"
#include "predict/fixes/common/packaged.h"

namespace gapless::internal::hub_kernels_fix {

FIX(hub_kernels) = {
    .name = "hub_kernels",
    .help = "Run layers in kernels of the Hugging Face Hub",
    .safety = Safety::kRounding,
    .trial = {
        .why = "Where layers name a kernel of the Hub, as those of transformers do: they are computed by it, as far as "
               "it is on this machine already: nothing is downloaded. Each is first held against the module, forward "
               "and backward, in float64 on the shapes that it meets; what is wrong stays as it was. Rounds "
               "differently. Prior: 1.7 to 2.5 times for a kernel by itself (its authors).",
        .effort = Effort::kQuick,
        .choice = {.order = 86, .cures = kFusionCures, .prior = 1.05, .after = kAfterCompiler},
        .needs = {.operators = kNormOrGateWork,
                  .operators_are = "norm, gate or cross entropy",
                  .package = {.name = "kernels", .version = "0.5", .install = "pip install kernels"}},
        .values = Always}};

}  // namespace gapless::internal::hub_kernels_fix
