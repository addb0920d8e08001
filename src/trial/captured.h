// SPDX-License-Identifier: Apache-2.0
// Programs that answer with what they print: git, a build, a compiler.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace gapless::internal {

// The exit status and the output of a program that ended, without the last line ends.
struct Captured {
  int status = 0;
  std::string text;
};

// Runs it in the folder, to its end. Git asks for no password in it, and leaves no locks. An error: it cannot be
// started, or the user interrupts gapless, which ends it.
Result<Captured> RunCaptured(const std::vector<std::string>& argv, const std::string& folder);

}  // namespace gapless::internal
