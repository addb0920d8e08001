// SPDX-License-Identifier: Apache-2.0
// The change of one file as `patch -p1` and `git apply` take it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "optimize/patch/splice.h"

namespace gapless::internal {

// `splices` in the order of their places, none over another. Empty when nothing changes. `path` is relative; a name
// with unusual characters is quoted as git does.
std::string UnifiedDiff(std::string_view path, std::string_view text, const std::vector<Splice>& splices);

}  // namespace gapless::internal
