// SPDX-License-Identifier: Apache-2.0
// The fix `affinity`: binds each rank to processors of its own. It needs at least two ranks, and two processors
// for each.
#include "predict/fix.h"
#include "predict/fixes/common/values.h"

namespace gapless::internal::affinity_fix {
namespace {

FixValues Values(const FixContext& context) {
  if (context.ranks < 2) return NoneBecause("one rank trains on this machine");
  if (context.cpus < 2 * context.ranks) return NoneBecause("there are fewer than two processors for each rank");
  return {.values = {""}};
}

constexpr std::string_view kCures[] = {"host_straggler", "straggler", "step_variation"};

}  // namespace

FIX(affinity) = {
    .name = "affinity",
    .help = "Keep each rank to processors of its own",
    .safety = Safety::kExact,
    .trial = {.value = "[CPUS]",
              .grammar = {"a processor or a range of them, such as 0-7", IsProcessors},
              .why = "Where several ranks, or their loaders, move between the processors of a machine, or work far "
                     "from their GPU's memory. Each rank is bound to its share of the processors, near its GPU where "
                     "that is known; a list such as 0-7 names them. The numbers stay. Prior: 1.01 to 1.10 times on "
                     "machines with several sockets (documentation of torch.numa).",
              .effort = Effort::kQuick,
              .choice = {.order = 22, .cures = kCures, .prior = 1.03},
              .live = {.between_steps = true},
              .values = Values,
              .changes = Changes::kBoth}};

}  // namespace gapless::internal::affinity_fix
