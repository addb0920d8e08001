// SPDX-License-Identifier: Apache-2.0
#include "optimize/fix.h"

namespace gapless::internal {
namespace {

FixValues Values(const FixContext& context) {
  if (!context.gpu) return NoneBecause("nothing is copied to a GPU");
  return {.values = {""}};
}

constexpr std::string_view kCures[] = {"pageable_copies"};

}  // namespace

FIX(pin) = {
    FROM_CATALOGUE(kPin),
    .why =
        "Where copies to the GPU come from pageable memory: these go through a buffer of the driver and block "
        "the host. DataLoader gets pin_memory=True, and copies from pinned memory to a GPU become non_blocking; "
        "copies from the GPU stay as they are. Pinned memory cannot be swapped out. The gain is at most the time "
        "of the copies; small unless they are visible in a step (PyTorch's performance tuning guide).",
    .effort = Effort::kQuick,
    .needs_loader = true,
    .order = 44,
    .cures = kCures,
    .values = Values};

}  // namespace gapless::internal
