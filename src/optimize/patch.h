// SPDX-License-Identifier: Apache-2.0
// A unified diff of the user's scripts, from what the fixes changed while they ran. The files are only read.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "optimize/change.h"

namespace gapless::internal {

struct Patch {
  std::string diff{};                 // for `patch -p1`, paths relative to `folder`; empty: no change can be expressed
  std::vector<std::string> advice{};  // changes that no edit says: a sentence each
  std::vector<std::string> left_out{};  // edits that do not fit the file as it is: why
};

// Returns the patch for changes that are on; others are ignored. Edits of files outside `folder`, and of installed
// packages, become advice. Never fails as a whole: what cannot be done is in `left_out`.
Patch WritePatch(std::span<const Change> changes, const std::string& folder);

}  // namespace gapless::internal
