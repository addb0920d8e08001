// SPDX-License-Identifier: Apache-2.0
// Finds what surrounds a slice (model, optimiser, autograd engine), for patterns whose meaning depends on it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace gapless::internal {

enum Surrounding : uint8_t {
  kInOptimizer = 1,       // Optimizer.step#… without its closure (optimizer_updates.h), Optimizer.zero_grad#…
  kInAutograd = 2,        // a node of the backward pass
  kInAccumulateGrad = 4,  // the node that adds up gradients, with the hooks on it
  kInCompiled = 8,        // a compiled region or graph
  kInLoader = 16,         // data loading
};

uint8_t SurroundingOf(std::string_view name);

// Returns, for each slice row, the sum of Surrounding of the slice and of all around it. One pass.
std::vector<uint8_t> Surroundings(const Trace& trace);

}  // namespace gapless::internal
