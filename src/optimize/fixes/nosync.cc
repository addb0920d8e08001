// SPDX-License-Identifier: Apache-2.0
// The fix `nosync`: exchanges gradients once per step instead of in every backward pass. The value 0, which is not
// proposed, leaves the exchange out altogether: exchange_cost.h measures with it.
#include "optimize/fix.h"
#include "optimize/fixes/common/values.h"

namespace gapless::internal {
namespace {

FixValues Values(const FixContext& context) {
  if (context.ranks < 2) return NoneBecause("one rank trains on this machine");
  return FixValues{.values = {""}};
}

bool Accepts(std::string_view value) { return value == "0" || IsWhole(value, 2, 65536); }
constexpr std::string_view kCures[] = {"exposed_communication", "small_collectives"};
constexpr std::string_view kConflicts[] = {fixes::kDdpStatic.name};

}  // namespace

FIX(nosync) = {
    FROM_CATALOGUE(kNosync),
    .value = "[K]",
    .grammar = {"0 or a whole number from 2 to 65536", Accepts},
    .why =
        "Where a step has K backward passes, and gradients are exchanged in each of them. The first K − 1 run "
        "under no_sync(); K is learned from the steps of the program, or given. Sums are rounded in another "
        "order; a program that reads gradients between the passes finds those of its own rank. The gain is at "
        "most (K − 1) / K of the exchange that is not hidden.",
    .effort = Effort::kMedium,
    .live = true,
    .order = 94,
    .cures = kCures,
    .conflicts = kConflicts,
    .values = Values};

}  // namespace gapless::internal
