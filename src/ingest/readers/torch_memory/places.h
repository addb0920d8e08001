// SPDX-License-Identifier: Apache-2.0
// The part of a training in which memory was allocated, as the frames of the stack show it.
#pragma once

#include <cstdint>
#include <string_view>

namespace gapless::internal::torch_memory {

// In the order in which they win: an optimiser's step may run modules, a backward pass may recompute a forward one.
enum class Place : uint8_t { kUnknown, kModule, kForward, kBackward, kOptimizer };

// Returns what one frame says. `file` may have separators of Windows.
Place PlaceOf(std::string_view function, std::string_view file);

}  // namespace gapless::internal::torch_memory
