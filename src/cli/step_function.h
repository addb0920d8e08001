// SPDX-License-Identifier: Apache-2.0
// --step-function, an option of every verb that launches a program.
#pragma once

#include <string>

#include "cli/command.h"

namespace gapless::internal {

inline constexpr OptionSpec kStepFunctionOption = {
    .name = "step-function",
    .takes = OptionSpec::Takes::kValue,
    .value = "PLACE",
    .help = "End a step where this function returns: FILE.py:FUNCTION or package.module:Class.method"};

// Returns the option's value, empty where it was not given; a usage error where it names no place or no function. If
// the function exists is not checked here.
Result<std::string> StepFunctionFrom(const Arguments& arguments);

}  // namespace gapless::internal
