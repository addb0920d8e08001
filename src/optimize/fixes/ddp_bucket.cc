// SPDX-License-Identifier: Apache-2.0
// The fix `ddp_bucket`: another bucket size for the gradient all-reduce. Both directions are tried: smaller
// buckets start earlier, larger ones need fewer exchanges.
#include "optimize/fix.h"
#include "optimize/fixes/common/values.h"

namespace gapless::internal {
namespace {

FixValues Values(const FixContext& context) {
  if (context.ranks < 2) return NoneBecause("one rank trains on this machine");
  return context.all_values ? FixValues{.values = {"5", "10", "50", "100", "200"}}
                            : FixValues{.values = {"50", "10", "100"}};
}

constexpr std::string_view kCures[] = {"exposed_communication", "small_collectives"};

}  // namespace

FIX(ddp_bucket) = {
    FROM_CATALOGUE(kDdpBucket),
    .value = "MB",
    .grammar = {"a whole number of megabytes from 1 to 1048576", IsCount<1, 1 << 20>},
    .why =
        "Where the last exchange of a step is not hidden (smaller buckets start earlier), or many small "
        "exchanges are bound by latency (larger ones). DistributedDataParallel gets bucket_cap_mb, 25 by "
        "default. Sums may be rounded in another order. The gain is at most the exchange that is not hidden.",
    .effort = Effort::kQuick,
    .order = 74,
    .cures = kCures,
    .values = Values};

}  // namespace gapless::internal
