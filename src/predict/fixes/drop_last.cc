// SPDX-License-Identifier: Apache-2.0
// The fix `drop_last`: leaves out the last, smaller batch of each epoch, so that shapes stay the same.
#include "predict/fix.h"

namespace gapless::internal::drop_last_fix {
namespace {

constexpr std::string_view kCures[] = {"recompilation", "run_recompilation", "step_variation"};

}  // namespace

FIX(drop_last) = {
    .name = "drop_last",
    .help = "Leave out the last, smaller batch of an epoch",
    .safety = Safety::kTraining,
    .trial = {.why = "Where the last batch of each epoch has another size, and makes torch.compile, CUDA graphs or "
                     "cuDNN's search start again. DataLoader gets drop_last=True. The samples of that batch are not "
                     "seen in that epoch: another training, if barely, where samples are shuffled. In an evaluation it "
                     "would change the result; leave it out there. No figure is known.",
              .effort = Effort::kQuick,
              .choice = {.order = 32, .cures = kCures},
              .needs = {.loader = true},
              .values = Always}};

}  // namespace gapless::internal::drop_last_fix
