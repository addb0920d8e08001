// SPDX-License-Identifier: Apache-2.0
// The fix `checkpoint`: computes activations again instead of keeping them. Alone it costs time, so its prior is
// below 1; it pays through a larger batch (checkpoint_batch).
#include "optimize/fix.h"
#include "optimize/fixes/common/values.h"

namespace gapless::internal {
namespace {

FixValues Values(const FixContext& context) {
  return context.all_values ? FixValues{.values = {"0.25", "0.5", "block"}} : FixValues{.values = {"0.5", "block"}};
}

bool Accepts(std::string_view value) { return value == "block" || IsWhole(value, 1, 65536) || IsPositive(value, 1); }
constexpr std::string_view kCures[] = {"memory_pressure"};
constexpr std::string_view kConflicts[] = {fixes::kOffload.name, fixes::kCompile.name, fixes::kCudagraph.name,
                                           fixes::kCheckpointBatch.name};

}  // namespace

FIX(checkpoint) = {
    FROM_CATALOGUE(kCheckpoint),
    .value = "[HOW]",
    .grammar = {"block, a share of the blocks such as 0.5, or a whole number up to 65536", Accepts},
    .why =
        "Where memory limits the batch. The repeated blocks of the model are wrapped in activation "
        "checkpointing, all of them (`block`), a share (0.5: every second one), or every third (3). The forward "
        "pass of these runs once more in the backward pass, with the same random numbers, so the numbers stay. "
        "It costs time, about 20 % (documentation of transformers), and pays only through a larger batch or a "
        "model that did not fit.",
    .effort = Effort::kMedium,
    .live = true,
    .order = 64,
    .cures = kCures,
    .conflicts = kConflicts,
    .prior = 0.8,
    .values = Values};

}  // namespace gapless::internal
