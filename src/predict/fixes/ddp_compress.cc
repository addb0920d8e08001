// SPDX-License-Identifier: Apache-2.0
// The fix `ddp_compress`: exchanges gradients in bf16. Only for GPUs; gradients are rounded, so the loss check
// holds it to the precision of bf16.
#include "predict/fix.h"

namespace gapless::internal::ddp_compress_fix {
namespace {

FixValues Values(const FixContext& context) {
  if (context.ranks < 2) return NoneBecause("one rank trains on this machine");
  if (!context.gpu) return NoneBecause("gradients are exchanged by processors");
  return {.values = {""}};
}

constexpr std::string_view kCures[] = {"exposed_communication"};

}  // namespace

FIX(ddp_compress) = {
    .name = "ddp_compress",
    .help = "Exchange gradients in bf16",
    .safety = Safety::kTraining,
    .trial = {
        .why = "Where the exchange of gradients between machines is not hidden. DistributedDataParallel gets the hook "
               "bf16_compress_hook: half the bytes, and gradients are rounded to 8 bits of mantissa before they are "
               "summed: another training, if close. The gain is at most half of the exchange that is not hidden.",
        .effort = Effort::kMedium,
        .choice = {.order = 78, .cures = kCures},
        .precision_of = [](std::string_view /*value*/) { return Precision::kBf16; },
        .values = Values}};

}  // namespace gapless::internal::ddp_compress_fix
