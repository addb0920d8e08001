// SPDX-License-Identifier: Apache-2.0
#include "predict/fix.h"
#include "predict/fixes/common/packaged.h"

namespace gapless::internal::quack_fix {

FIX(quack) = {
    .name = "quack",
    .help = "Run norms in QuACK's kernels",
    .safety = Safety::kRounding,
    .trial = {
        .why = "Where norms take time on a GPU of the Hopper or Blackwell generation: RMSNorm and LayerNorm are "
               "computed by the CuTe kernels of quack-kernels. Each is first held against the module, forward and "
               "backward, in float64 on the shapes that it meets; what is wrong stays as it was. Rounds differently. "
               "Prior: near the bandwidth of the memory; of a step at most the share of the norms.",
        .effort = Effort::kQuick,
        .choice = {.order = 84, .cures = kFusionCures, .prior = 1.05, .after = kAfterCompiler},
        .needs = {.operators = kNormWork,
                  .operators_are = "norm",
                  .package = {.name = "quack-kernels",
                              .version = "0.2",
                              .install = "pip install quack-kernels",
                              .compute_major = 9}},
        .values = Always}};

}  // namespace gapless::internal::quack_fix
