// SPDX-License-Identifier: Apache-2.0
// The fix `checkpoint_batch`: activation checkpointing together with a larger batch, tried as one because neither
// brings anything alone where memory limits the batch.
#include "fixes/names.h"
#include "predict/fix.h"
#include "predict/fixes/common/values.h"

namespace gapless::internal::checkpoint_batch_fix {
namespace {

FixValues Values(const FixContext& context) {
  if (!context.gpu) return NoneBecause("no memory of a GPU limits the batch");
  return context.all_values ? FixValues{.values = {"2", "4"}} : FixValues{.values = {"2"}};
}

bool Accepts(std::string_view value) { return IsPositive(value, 65536); }
constexpr std::string_view kCures[] = {"memory_pressure"};
constexpr std::string_view kConflicts[] = {fixes::kBatch.name, fixes::kCheckpoint.name, fixes::kOffload.name,
                                           fixes::kCompile.name, fixes::kCudagraph.name};

}  // namespace

FIX(checkpoint_batch) = {
    .name = "checkpoint_batch",
    .help = "Compute activations again, and make batches K times as large",
    .safety = Safety::kTraining,
    .trial = {.value = "K",
              .grammar = {"a factor above 0 and up to 65536", Accepts},
              .why = "Where the memory of the GPU limits the batch. Activation checkpointing alone takes longer, a "
                     "larger batch alone does not fit: the two are tried as one. All repeated blocks of the model are "
                     "computed again in the backward pass, and DataLoader gets K times the batch_size. Learning rate, "
                     "schedule and the number of steps have to follow: another training, tried only where you allow "
                     "it. The speed counts in samples. No figure is known.",
              .effort = Effort::kMedium,
              .choice = {.order = 65, .cures = kCures, .conflicts = kConflicts, .predictable = false},
              .needs = {.loader = true},
              .values = Values}};

}  // namespace gapless::internal::checkpoint_batch_fix
