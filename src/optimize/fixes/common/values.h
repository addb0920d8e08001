// SPDX-License-Identifier: Apache-2.0
// Values of fixes that count something.
#pragma once

#include <vector>

#include "optimize/fix.h"

namespace gapless::internal {

// The numbers of `wanted`, in their order, that are not above `most`; each once. What is 0 beyond the first is left
// out.
FixValues AtMost(size_t most, const std::vector<size_t>& wanted);

}  // namespace gapless::internal
