// SPDX-License-Identifier: Apache-2.0
// Help, made from the descriptions of the verbs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace gapless::internal {

// "gapless query PATH... SQL [--rank LIST] …", broken to `width`.
std::string UsageLine(const Command& command, int width);
// Returns the text of `gapless VERB --help`.
std::string HelpOf(const Command& command, int width);
// Returns the text of `gapless --help`.
std::string Overview(int width);

// "-o, --output FILE", "--json[=FILE]"
std::string OptionSyntax(const OptionSpec& option);
// "PATH...", "[WORD]"
std::string WordSyntax(const WordSpec& word);
// Breaks paragraphs (separated by an empty line) into lines of at most `width` columns, each indented by `indent`.
std::string Wrap(std::string_view text, int width, int indent);

// The project's texts, shared by help, man page and reference.
inline constexpr std::string_view kOneLiner =
    "finds where a training job leaves its GPUs idle, and what to do about it";
// An exit status and its meaning.
struct ExitCode {
  int code;
  std::string_view what;
};
// The exit statuses of all commands, ascending; a command's help names those that mean something else for it.
std::span<const ExitCode> ExitCodes();

}  // namespace gapless::internal
