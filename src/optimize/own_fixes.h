// SPDX-License-Identifier: Apache-2.0
// OwnFixes are fixes of the user's own: Python files that the agent loads (docs/OPTIMIZATION_GUIDE.md). They may
// be moved, but `texts` must live as long as `fixes`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "optimize/fix_item.h"

namespace gapless::internal {

struct OwnFixes {
  std::vector<std::unique_ptr<std::string>> texts{};  // that `fixes` refer to
  std::vector<Fix> fixes{};
};

// Parses words "FILE.py" or "FILE.py=SAFETY"; the default safety is rounding. Returns an error if the file is missing,
// the safety is unknown, or the file's name is invalid or that of a built-in fix.
Result<OwnFixes> OwnFixesFrom(const std::vector<std::string>& words);

}  // namespace gapless::internal
