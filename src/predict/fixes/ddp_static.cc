// SPDX-License-Identifier: Apache-2.0
#include "fixes/names.h"
#include "predict/fix.h"

namespace gapless::internal::ddp_static_fix {
namespace {

FixValues Values(const FixContext& context) {
  if (context.ranks < 2) return NoneBecause("one rank trains on this machine");
  return FixValues{.values = {""}};
}

constexpr std::string_view kCures[] = {"exposed_communication", "host_bound"};
constexpr std::string_view kConflicts[] = {fixes::kNosync.name};

}  // namespace

FIX(ddp_static) = {
    .name = "ddp_static",
    .help = "Tell DDP that the graph stays the same",
    .safety = Safety::kExact,
    .trial = {.why = "Where DistributedDataParallel looks for unused parameters in every step, and the same parameters "
                     "take part in all steps. static_graph=True learns the graph in the first step; it is only set "
                     "where DDP itself says that it can be. A graph that changes later ends the run with an error. The "
                     "numbers stay. Prior: a few per cent.",
              .effort = Effort::kMedium,
              .choice = {.order = 76, .cures = kCures, .conflicts = kConflicts, .prior = 1.02},
              .values = Values}};

}  // namespace gapless::internal::ddp_static_fix
