// SPDX-License-Identifier: Apache-2.0
// Says where the two commands of `gapless validate` are one: there is nothing to measure then.
#pragma once

#include <string>
#include <string_view>

#include "cli/pairs.h"

namespace gapless::internal {

// Returns in words why nothing differs; empty if something may. A `gapless run` with a recipe without fixes is the
// command behind it.
std::string WhyNothingDiffers(const TwoCommands& commands);

// The same of one command with two configurations: empty unless both files can be read and hold the same bytes.
std::string WhyNoConfigurationDiffers(std::string_view baseline, std::string_view optimized);

}  // namespace gapless::internal
