// SPDX-License-Identifier: Apache-2.0
// First mistakes: the line that was probably meant, whole, so that it can be typed as it stands.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "cli/command.h"

namespace gapless::internal {

// The error for a line that begins with no verb: with a recording, a script, an option, or a misspelt verb. `words` are
// all of the line, one at least.
Error UnknownVerb(std::span<const std::string> words);

// "gapless profile -o run -- python train.py": the words after the verb with `--` before each command in them. "" if
// there is a `--` already, the verb takes no command, or no word looks like the beginning of one.
std::string WithDashes(const Command& command, std::span<const std::string> args);

// A script of Python, by its name.
bool IsPythonScript(std::string_view word);

// "gapless VERB FOLDER" with the newest run folder in the current one, else an example of the verb; "" if it has none.
std::string LineWithPath(const Command& command);

}  // namespace gapless::internal
