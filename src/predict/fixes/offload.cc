// SPDX-License-Identifier: Apache-2.0
// The fix `offload`: keeps saved activations in pinned memory of the host. It usually costs more time than
// `checkpoint`, which is tried first.
#include "fixes/names.h"
#include "predict/fix.h"

namespace gapless::internal::offload_fix {
namespace {

FixValues Values(const FixContext& context) {
  if (!context.gpu) return NoneBecause("activations are in the memory of the host already");
  return {.values = {""}};
}

constexpr std::string_view kCures[] = {"memory_pressure"};
constexpr std::string_view kConflicts[] = {fixes::kCheckpoint.name, fixes::kCudagraph.name,
                                           fixes::kCheckpointBatch.name};

}  // namespace

FIX(offload) = {
    .name = "offload",
    .help = "Keep activations in the memory of the host",
    .safety = Safety::kExact,
    .trial = {.why = "Where memory limits the batch and the link to the host has room. Tensors of 1 MB or more that "
                     "the forward pass saves for the backward pass are copied to pinned memory of the host, and back. "
                     "The numbers stay. It costs the time of the copies: usually more than computing activations "
                     "again, which is tried first. Prior: slower; no figure is known.",
              .effort = Effort::kMedium,
              .choice = {.order = 66, .cures = kCures, .conflicts = kConflicts},
              .live = {.between_steps = true},
              .values = Values}};

}  // namespace gapless::internal::offload_fix
