// SPDX-License-Identifier: Apache-2.0
// The command `gapless help`: prints the help of one command or the list of all; with --json the whole grammar of the
// command line, from which other programs can build forms or completions. Hidden options are left out.
#include "base/described_json.h"
#include "base/strings.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/usage.h"

namespace gapless::internal::help_command {
namespace documents {

// An option as another program would need it.
struct HelpOption {
  std::string_view name{};
  std::string letter{};
  std::string_view value{};
  bool value_optional = false;
  std::string_view help{};
  std::optional<std::vector<std::string_view>> choices{};
  static constexpr FieldInfo kFields[] = {
      Field<&HelpOption::name>("name", "", "name without dashes"),
      Field<&HelpOption::letter>("letter", "", "short form", kUnlessEmpty),
      Field<&HelpOption::value>("value", "", "what the value is called; missing: it takes none", kUnlessEmpty),
      Field<&HelpOption::value_optional>("value_optional", "", "a value is given as --name=VALUE only"),
      Field<&HelpOption::help>("help", "", "what it does"),
      Field<&HelpOption::choices>("choices", "", "values that there are; missing: any"),
  };
};

struct HelpArgument {
  std::string_view name{}, help{};
  static constexpr FieldInfo kFields[] = {
      Field<&HelpArgument::name>("name", "", "what it is called"),
      Field<&HelpArgument::help>("help", "", "what it is"),
  };
};

// A command. `options` includes those that every command has.
struct HelpCommand {
  std::string_view name{}, group{}, help{};
  std::vector<HelpArgument> arguments{};
  std::vector<HelpOption> options{};
  static constexpr FieldInfo kFields[] = {
      Field<&HelpCommand::name>("name", "", "name of the command"),
      Field<&HelpCommand::group>("group", "", "what it is for: find, fix, prove, guard, jobs or more"),
      Field<&HelpCommand::help>("help", "", "the command in a line"),
      Field<&HelpCommand::arguments>("arguments", "", "arguments without dashes"),
      Field<&HelpCommand::options>("options", "", "its options"),
  };
};

struct Help {
  std::vector<HelpCommand> commands{};
  static constexpr FieldInfo kFields[] = {Field<&Help::commands>("commands", "", "the commands that were asked for")};
};

}  // namespace documents

namespace {

struct HelpArguments : Arguments {
  const Command* verb = nullptr;  // null: all of them
  static constexpr WordList kWords{ChosenWord<&HelpArguments::verb, AnyEntry<AllCommands, &Command::name>>(
                                       "VERB", "the command to explain; without it, all commands are listed")
                                       .Optional()};
};

// Describes an option as data.
documents::HelpOption OptionOf(const OptionSpec& option) {
  documents::HelpOption described{.name = option.name,
                                  .letter = option.letter == 0 ? "" : std::string(1, option.letter),
                                  .value = option.value,
                                  .value_optional = option.takes == OptionSpec::Takes::kOptionalValue,
                                  .help = option.help};
  if (option.choices != nullptr) described.choices = option.choices();
  return described;
}

std::string AsJson(std::span<const Command* const> commands) {
  documents::Help document;
  for (const Command* command : commands) {
    documents::HelpCommand& described = document.commands.emplace_back();
    described.name = command->name;
    described.group = command->place.group.name;
    described.help = command->help;
    for (const WordSpec& word : command->call.words) described.arguments.push_back({word.name, word.help});
    // With the options that every command has, and without hidden ones.
    for (const OptionSpec& option : OptionsOf(*command)) described.options.push_back(OptionOf(option));
  }
  return DocumentOf("help", document);
}

// Without an argument the overview is printed, and the JSON has every command.
Result<int> Execute(const HelpArguments& arguments, Session& session) {
  const int width = session.terminal.width;
  const auto all = arguments.verb == nullptr ? AllCommands() : std::span(&arguments.verb, 1);
  return PrintTextOrJson(
      arguments, [&] { return arguments.verb == nullptr ? Overview(width) : HelpOf(*arguments.verb, width); },
      [&] { return AsJson(all); });
}

constexpr const TypeInfo* kDocuments[] = {&TypeOf<documents::Help>::kInfo};
constexpr Example kExamples[] = {{"gapless help query", "Explains the verb query"}};

}  // namespace

COMMAND(help) = {.name = "help",
                 .place = {groups::kMore, 8},
                 .help = "Explain a command, or list all commands",
                 .about = "Prints the help of a verb, as `gapless VERB --help` does. With --json, the grammar as data.",
                 .examples = kExamples,
                 .documents = kDocuments,
                 .call = kCall<Execute>};

}  // namespace gapless::internal::help_command
