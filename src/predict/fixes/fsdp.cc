// SPDX-License-Identifier: Apache-2.0
// The fix `fsdp`: when sharded parameters are gathered. `keep` comes last, because it takes memory.
#include "predict/fix.h"
#include "predict/fixes/common/values.h"

namespace gapless::internal::fsdp_fix {
namespace {

FixValues Values(const FixContext& context) {
  if (context.ranks < 2) return NoneBecause("one rank trains on this machine");
  if (!context.torch_version.empty() && !TorchIsAtLeast(context, 2, 6))
    return NoneBecause("fully_shard is stable from PyTorch 2.6 on");
  return {.values = {"prefetch", "keep"}};
}

constexpr std::string_view kHows[] = {"prefetch", "keep"};
constexpr std::string_view kCures[] = {"exposed_communication"};

}  // namespace

FIX(fsdp) = {
    .name = "fsdp",
    .help = "Gather the parameters of FSDP2 ahead, or once a step",
    .safety = Safety::kExact,
    .trial = {.value = "HOW",
              .grammar = {"prefetch or keep", IsOneOf<kHows>},
              .why = "Where a model of fully_shard waits for its parameters. `prefetch` gathers those of the next two "
                     "modules while one computes; `keep` leaves them whole between the forward and the backward pass, "
                     "so that they are gathered once a step, and takes the memory for it. The numbers stay. Prior: "
                     "none; of the exchanges `keep` saves a third at most.",
              .effort = Effort::kQuick,
              .choice = {.order = 73, .cures = kCures, .prior = 1.05},
              .values = Values}};

}  // namespace gapless::internal::fsdp_fix
