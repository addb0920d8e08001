// SPDX-License-Identifier: Apache-2.0
// --step-function, an option of every verb that launches a program.
#pragma once

#include <string>

#include "cli/command.h"

namespace gapless::internal {

// An error: the text names no place or no function. If the function exists is not checked here.
Result<std::string> ReadStepFunction(const OptionSpec& option, std::string_view text);

template <auto Member>
consteval auto StepFunctionOption() {
  return Parsed<Member, ReadStepFunction>(
      "PLACE", "End a step where this function returns: FILE.py:FUNCTION or package.module:Class.method");
}

}  // namespace gapless::internal
