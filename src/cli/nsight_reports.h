// SPDX-License-Identifier: Apache-2.0
// Reports of Nsight Compute as input: ncu exports them, once, into a file beside the report.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace gapless::internal {

// Returns the paths with each .ncu-rep replaced by its CSV. An export that is there and not older than its report is
// used as it is; an older one is an error, for it is the user's. Folders and other files stay. An error where the tool
// is missing or fails says which command to run.
Result<std::vector<std::string>> ExportedReports(std::span<const std::string> paths);

}  // namespace gapless::internal
