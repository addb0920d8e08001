// SPDX-License-Identifier: Apache-2.0
#include "predict/fix.h"

namespace gapless::internal::ddp_view_fix {
namespace {

FixValues Values(const FixContext& context) {
  if (context.ranks < 2) return NoneBecause("one rank trains on this machine");
  return FixValues{.values = {""}};
}

constexpr std::string_view kCures[] = {"needless_copies", "memory_pressure", "exposed_communication"};

}  // namespace

FIX(ddp_view) = {.name = "ddp_view",
                 .help = "Let gradients be views into the buckets of DDP",
                 .safety = Safety::kExact,
                 .trial = {.why = "Where gradients are copied into and out of the buckets of DistributedDataParallel. "
                                  "gradient_as_bucket_view=True saves these copies, and memory of the size of the "
                                  "gradients. A program that detaches gradients in place (detach_()) fails. The "
                                  "numbers stay. A small gain: at most the time of the copies.",
                           .effort = Effort::kQuick,
                           .choice = {.order = 75, .cures = kCures},
                           .values = Values}};

}  // namespace gapless::internal::ddp_view_fix
