// SPDX-License-Identifier: Apache-2.0
// A copy of a checkout that costs little: Python files are copied, everything else is reached through links.
#pragma once

#include <map>
#include <string>

#include "base/result.h"

namespace gapless::internal {

// Makes `copy`, a new folder, look like the folder `root`, but with the given content of some files (by their paths
// below `root`). Programs find their modules beside the file that they run, links followed: so Python files are copied.
// Folders of installed packages, hidden ones and folders of very many files are links as a whole. Returns an error if
// the checkout has too many files for that, or cannot be read.
Result<void> CopyTree(const std::string& root, const std::string& copy,
                      const std::map<std::string, std::string>& content);

}  // namespace gapless::internal
