// SPDX-License-Identifier: Apache-2.0
// The consolidated report of `gapless profile --comprehensive`: a section for each tool, with what it recorded or why
// it recorded nothing.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace gapless::internal {

// Writes <folder>/tools.md. `missing`: tools that were wanted and are not installed; `done`: what the others said.
// Returns the path.
Result<std::string> WriteToolReport(const std::string& folder, const std::vector<std::string>& missing,
                                    const std::vector<std::string>& done);

}  // namespace gapless::internal
