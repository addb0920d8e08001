// SPDX-License-Identifier: Apache-2.0
// The output of errors: a message, a place and a hint on standard error; with --json also an object on standard output.
#pragma once

#include <string>

#include "base/result.h"

namespace gapless::internal {

// "gapless: message", "  in place", "  hint"; several lines, each ended.
std::string DescribeError(const Error& error);
// {"gapless": {…}, "error": {"code", "message", "place"?, "hint"?, "exit_status"}} and a line end.
std::string ErrorAsJson(const Error& error, int status);

}  // namespace gapless::internal
