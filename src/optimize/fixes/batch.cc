// SPDX-License-Identifier: Apache-2.0
// The fix `batch`: K times as many samples per batch. The what-if of the same name takes samples, not a factor, so
// there is no preview; speed is compared per sample.
#include "optimize/fix.h"
#include "optimize/fixes/common/values.h"

namespace gapless::internal {
namespace {

FixValues Values(const FixContext& context) {
  return context.all_values ? FixValues{.values = {"2", "4", "8", "16"}} : FixValues{.values = {"2", "4"}};
}

bool Accepts(std::string_view value) { return IsPositive(value, 65536); }
constexpr std::string_view kCures[] = {"small_batch", "gpu_unused_memory", "underfilled_gpu", "low_occupancy",
                                       "tiny_kernels"};

constexpr std::string_view kConflicts[] = {fixes::kCheckpointBatch.name};

}  // namespace

FIX(batch) = {
    FROM_CATALOGUE(kBatch),
    .value = "K",
    .grammar = {"a factor above 0 and up to 65536", Accepts},
    .why =
        "Where kernels are too small to fill the GPU and memory is free. DataLoader gets K times the batch_size: "
        "fewer, larger steps, whose speed counts in samples. Learning rate, schedule and the number of steps "
        "have to follow, so this is another training. A batch that does not fit into memory "
        "fails in its trial, which is contained, and is rejected. No figure holds for all models; `gapless predict "
        "--what batch=N` estimates the gain from a recording.",
    .effort = Effort::kQuick,
    .predictable = false,  // `predict --what batch=N` takes samples, this a factor
    .order = 30,
    .cures = kCures,
    .conflicts = kConflicts,
    .values = Values};

}  // namespace gapless::internal
