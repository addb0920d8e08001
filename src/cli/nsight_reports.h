// SPDX-License-Identifier: Apache-2.0
// Nsight's own reports as input: they are exported by the tool that wrote them, once, into a file beside the report.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace gapless::internal {

// Returns the paths with each .nsys-rep and .qdrep replaced by its SQLite export and each .ncu-rep by its CSV. An
// export that is there and not older than its report is used as it is; an older one is an error, for it is the user's.
// Folders and other files stay. An error where the tool is missing or fails says which command to run.
Result<std::vector<std::string>> ExportedReports(std::span<const std::string> paths);

}  // namespace gapless::internal
