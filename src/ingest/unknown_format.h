// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace gapless::internal {

// Returns the error for an input that no reader knows: files of other tools are named as what they are, with what to
// give instead. `head` is how it begins, decompressed.
Unexpected UnknownFormat(std::string_view head, const std::string& path);

}  // namespace gapless::internal
