// SPDX-License-Identifier: Apache-2.0
// The fix `accumulate`: gradients of K batches are added before the optimizer applies them. It is another
// training.
#include "predict/fix.h"
#include "predict/fixes/common/values.h"

namespace gapless::internal::accumulate_fix {
namespace {

FixValues Values(const FixContext& context) {
  return context.all_values ? FixValues{.values = {"2", "4", "8"}} : FixValues{.values = {"2", "4"}};
}

constexpr std::string_view kCures[] = {"exposed_communication", "unfused_optimizer", "host_optimizer"};

}  // namespace

FIX(accumulate) = {
    .name = "accumulate",
    .help = "Step the optimiser once in K batches",
    .safety = Safety::kTraining,
    .trial = {.value = "K",
              .grammar = {"a whole number from 2 to 65536", IsCount<2, 65536>},
              .why = "Where the exchange of gradients or the optimiser takes much of a step. Gradients of K batches "
                     "are added, their mean is applied: the optimiser sees a batch K times as large, K times less "
                     "often, so learning rate and schedule have to follow. Another training. The gain is at most (K − "
                     "1) / K of what exchange and optimiser take.",
              .effort = Effort::kMedium,
              .choice = {.order = 96, .cures = kCures},
              .values = Values}};

}  // namespace gapless::internal::accumulate_fix
