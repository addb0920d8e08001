// SPDX-License-Identifier: Apache-2.0
// Finds the part of a step (forward, backward, optimiser, loader) that a row belongs to.
//
// The backward pass is what the autograd engine runs; the optimiser and the loader have marks of their own. Operators
// and calls between one of these and the next backward pass are the forward pass. What follows a backward pass and is
// neither (clipping, logging) belongs to none.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace gapless::internal {

enum class Pass : uint8_t { kNone, kLoading, kForward, kBackward, kOptimizer };

struct Passes {
  std::vector<Pass> of_slice{};  // by row
  std::vector<Pass> of_op{};     // by row: that of its launch; kNone where it was not recorded
};

Passes FindPasses(const Trace& trace);

}  // namespace gapless::internal
