// SPDX-License-Identifier: Apache-2.0
#include "predict/fix.h"
#include "predict/fixes/common/packaged.h"

namespace gapless::internal::apex_fix {

FIX(apex) = {
    .name = "apex",
    .help = "Run norms in apex's kernels",
    .safety = Safety::kRounding,
    .trial = {
        .why = "Where norms take time and apex is built: RMSNorm and LayerNorm are computed by the kernels of apex. "
               "Each is first held against the module, forward and backward, in float64 on the shapes that it meets; "
               "what is wrong stays as it was. Rounds differently. Prior: torch's own LayerNorm is as quick by now; "
               "RMSNorm gains where it is not compiled.",
        .effort = Effort::kQuick,
        .choice = {.order = 85, .cures = kFusionCures, .prior = 1.05, .after = kAfterCompiler},
        .needs = {.operators = kNormWork,
                  .operators_are = "norm",
                  .package = {.name = "apex", .install = "https://github.com/NVIDIA/apex"}},
        .values = Always}};

}  // namespace gapless::internal::apex_fix
