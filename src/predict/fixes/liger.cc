// SPDX-License-Identifier: Apache-2.0
#include "predict/fix.h"
#include "predict/fixes/common/packaged.h"

namespace gapless::internal::liger_fix {

FIX(liger) = {
    .name = "liger",
    .help = "Run norms, gated blocks, rotary embeddings and losses in Liger's kernels",
    .safety = Safety::kRounding,
    .trial = {
        .why = "Where norms, gated blocks and losses are many operators each: RMSNorm, LayerNorm, SwiGLU and GEGLU "
               "blocks of the model, CrossEntropyLoss and the rotary embedding of a model (its function "
               "apply_rotary_pos_emb) are computed by the Triton kernels of liger-kernel. The last linear layer and "
               "the cross entropy of what it gives become one, without the logits in memory, where two calls show that "
               "nothing else reads them, as an accuracy would. Each is first held against the module, forward and "
               "backward, in float64 on the shapes that it meets; what is wrong stays as it was. Rounds differently. "
               "Prior: +20 % throughput and 60 % less memory (Llama-3-8B, 8 × A100); but a compiled model lost 21 % "
               "(176 to 223 ms on a B300), so it is tried after the compiler.",
        .effort = Effort::kQuick,
        .choice = {.order = 83, .cures = kFusionCures, .prior = 1.05, .after = kAfterCompiler},
        .needs = {.operators = kNormOrGateWork,
                  .operators_are = "norm, gate or cross entropy",
                  .package = {.name = "liger-kernel", .version = "0.5", .install = "pip install liger-kernel"}},
        .values = Always}};

}  // namespace gapless::internal::liger_fix
