// SPDX-License-Identifier: Apache-2.0
// Adds the options that every command has to those of its description, and finds commands by name.
#include "cli/command.h"

#include <algorithm>

namespace gapless::internal {

// Leaves out the hidden options, which have no help.
std::vector<OptionSpec> OptionsOf(const Command& command) {
  std::vector<OptionSpec> options = ParsedOptionsOf(command);
  std::erase_if(options, [](const OptionSpec& option) { return option.help.empty(); });
  return options;
}

// Puts the common options last, in the same order for every command.
std::vector<OptionSpec> ParsedOptionsOf(const Command& command) {
  std::vector<OptionSpec> options(command.options.begin(), command.options.end());
  if (command.takes_command) options.push_back(kKeepCommandOption);
  options.push_back(kJsonOption);
  options.push_back(kHelpOption);
  return options;
}

const Command* FindCommand(std::string_view name) {
  const auto all = AllCommands();
  const auto found = std::ranges::find(all, name, [](const Command* command) { return command->name; });
  return found == all.end() ? nullptr : *found;
}

}  // namespace gapless::internal
