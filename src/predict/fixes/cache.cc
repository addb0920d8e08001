// SPDX-License-Identifier: Apache-2.0
// The fix `cache`: samples that are the same each time stay in memory, so that each is read and decoded once.
//
// No figure of others is known. It takes all loading but the copy away from the second epoch on: where it brings
// nothing, no faster storage and no other format of the files does.
#include "predict/fix.h"

namespace gapless::internal::cache_fix {
namespace {

constexpr std::string_view kCures[] = {"data_loading", "host_data_loading", "run_data_loading", "step_variation"};

}  // namespace

FIX(cache) = {
    .name = "cache",
    .help = "Keep samples in memory once they were loaded",
    .safety = Safety::kExact,
    .trial = {
        .why =
            "Where steps wait for samples that are read or decoded anew in each epoch, and memory has room for them. "
            "They are kept in memory that the workers share, a quarter of what is free at most; the rest is loaded "
            "as before. Refused where a sample differs from one time to the next, as with random augmentations: "
            "keep the decoded image then, and augment afterwards. The first epoch is as slow as before, so the "
            "measured steps must reach the second. Prior: none; it is the most that tmpfs, LMDB, HDF5 or "
            "WebDataset could bring.",
        .effort = Effort::kMedium,
        .choice = {.order = 46, .cures = kCures},
        .needs = {.loader = true},
        .values = Always}};

}  // namespace gapless::internal::cache_fix
