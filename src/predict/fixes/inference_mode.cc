// SPDX-License-Identifier: Apache-2.0
#include "predict/fix.h"
#include "predict/fixes/common/values.h"

namespace gapless::internal::inference_mode_fix {

FIX(inference_mode) = {
    .name = "inference_mode",
    .help = "Call the model without recording for a backward pass",
    .safety = Safety::kExact,
    .trial = {.why = "Where a program calls its model with gradients switched on and never asks for one: each operator "
                     "then records itself and keeps its inputs. The calls run under torch.inference_mode(). The "
                     "results are the same numbers; a program that does ask for a gradient of them fails, and the fix "
                     "is refused. Prior: what the host does for each operator, most with small ones.",
              .choice = {.order = 12, .prior = 1.05, .blind = true},
              .values = Always,
              .changes = Changes::kInference}};

}  // namespace gapless::internal::inference_mode_fix
