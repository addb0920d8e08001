// SPDX-License-Identifier: Apache-2.0
// The user's checkout: all files that a patch may touch, and the folder that it applies to.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "optimize/change.h"

namespace gapless::internal {

// Returns the folder, absolute and with links followed, that a patch for the command applies to: the git repository
// around the script that it starts; without one `here`, where the script lies below that, else the script's own folder,
// or the one around its package. A command that names no script is one of `here`, or, where nothing was changed below
// that, of the first file that was.
std::string CheckoutRoot(const std::vector<std::string>& command, const std::string& here,
                         std::span<const Change> changes);

// Returns true if the folder holds a git repository of its own.
bool IsGitRoot(const std::string& folder);

// Says why no patch touches the file, as the end of a sentence: "which …"; empty: it may.
std::string WhyNotPatched(const std::string& file, const std::string& root);

// The path of a file that may be touched below `root`, with links followed; nothing: it may not.
std::optional<std::string> PathInCheckout(const std::string& file, const std::string& root);

}  // namespace gapless::internal
