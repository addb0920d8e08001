// SPDX-License-Identifier: Apache-2.0
// Checks that a text has the shape of a script, before it is parsed.
#pragma once

#include <string_view>

#include "base/result.h"

namespace gapless::internal {

// The parser takes time that grows with the square of comments in a row, and keeps the indentation in a fixed buffer.
// Returns an error unless both stay far below what could do harm.
Result<void> CheckShape(std::string_view text);

}  // namespace gapless::internal
