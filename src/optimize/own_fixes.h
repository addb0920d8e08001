// SPDX-License-Identifier: Apache-2.0
// Fixes of the user's own: Python files that the agent loads (docs/OPTIMIZATION_GUIDE.md).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "optimize/fix.h"

namespace gapless::internal {

struct OwnFixes {
  std::vector<std::unique_ptr<std::string>> texts{};  // that `fixes` refer to
  std::vector<Fix> fixes{};
};

// Each word is "FILE.py" or "FILE.py=SAFETY"; without a safety it is rounding. An error: there is no such file, the
// safety is none, or the file's name is that of a fix of the catalogue or no name.
Result<OwnFixes> OwnFixesFrom(const std::vector<std::string>& words);

}  // namespace gapless::internal
