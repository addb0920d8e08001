// SPDX-License-Identifier: Apache-2.0
// Finds out whether two statements of Python set the same thing.
#pragma once

#include <string_view>

namespace gapless::internal {

// Returns true if two statements call or assign the same thing, whatever value they give it.
bool SetsTheSame(std::string_view code, std::string_view line);

}  // namespace gapless::internal
