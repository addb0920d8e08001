// SPDX-License-Identifier: Apache-2.0
// Memory that activation checkpointing would free, cut along the modules whose forward passes made the activations.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "trace/trace.h"

namespace gapless::internal {

struct Activation {
  StackId stack{};
  int64_t bytes = 0;
};

struct CheckpointSaving {
  int64_t freed_bytes = 0;
  int64_t modules = 0;  // calls of modules that would be computed again
  StackId call{};       // frame of torch.nn.Module that runs those of them that free most
};

// `alive`: activations that live at one moment, in the order in which they were made.
//
// A module that is checkpointed keeps what goes into it and makes the rest again. Stacks tell modules by the place that
// calls them: calls of one place, such as the layers of a loop, begin anew where the stack comes again with which they
// begin. The last tensor that a call makes is taken for the input of the next one and stays. One call is computed again
// at a time: the largest of them stays, too. The cut that frees most is looked for from the whole model downwards.
//
// Absent: no stack has a module, or there is nothing to free.
std::optional<CheckpointSaving> FindCheckpointSaving(const Trace& trace, std::span<const Activation> alive);

}  // namespace gapless::internal
