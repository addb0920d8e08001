// SPDX-License-Identifier: Apache-2.0
// Adds the options that every command has to those of its description, and finds commands by name.
#include "cli/command.h"

#include <algorithm>

namespace gapless::internal {
namespace {

// The option that every verb with a command has, that of those that only read, and those of every verb.
constexpr auto kCommonOptions =
    OptionList{
        Flag<&Arguments::keep_command>("Store the command unchanged, including words that look like secrets"),
        Parsed<&Arguments::timeout, ReadTime>("TIME", "End after this time: 90s, 10m, 2h"),
        Choice<&Arguments::log, OneOf<kLogLevels>>("LEVEL", "Set what is said on standard error beside failures"),
        Text<&Arguments::json>("FILE", "Print JSON instead of text, or write it to FILE in addition").Optional(),
        Flag<&Arguments::help>("Show this help").Short('h')}
        .For<Arguments>();

}  // namespace

// Leaves out the hidden options, which have no help.
std::vector<OptionSpec> OptionsOf(const Command& command) {
  std::vector<OptionSpec> options = ParsedOptionsOf(command);
  std::erase_if(options, [](const OptionSpec& option) { return option.help.empty(); });
  return options;
}

// Puts the common options last, in the same order for every command.
std::vector<OptionSpec> ParsedOptionsOf(const Command& command) {
  std::vector<OptionSpec> options(command.call.options.begin(), command.call.options.end());
  if (command.takes_command) options.push_back(kCommonOptions[0]);
  if (command.only_reads) options.push_back(kCommonOptions[1]);
  options.insert(options.end(), kCommonOptions.begin() + 2, kCommonOptions.end());
  return options;
}

std::vector<const Command*> CommandsOf(const Group& group) {
  std::vector<const Command*> commands;
  for (const Command* command : AllCommands())
    if (&command->place.group == &group) commands.push_back(command);
  std::ranges::stable_sort(commands, {}, [](const Command* command) { return command->place.position; });
  return commands;
}

const Command* FindCommand(std::string_view name) {
  const auto all = AllCommands();
  const auto found = std::ranges::find(all, name, [](const Command* command) { return command->name; });
  return found == all.end() ? nullptr : *found;
}

}  // namespace gapless::internal
