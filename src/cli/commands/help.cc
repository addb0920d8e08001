// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.h"
#include "base/strings.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/usage.h"

namespace gapless::internal {
namespace {

void WriteOption(JsonWriter& json, const OptionSpec& option) {
  json.BeginObject();
  json.Field("name", option.name);
  if (option.letter != 0) json.Field("letter", std::string_view(&option.letter, 1));
  json.FieldUnlessEmpty("value", option.value);
  json.Field("value_optional", option.takes == OptionSpec::Takes::kOptionalValue);
  json.Field("help", option.help);
  if (option.choices != nullptr) {
    json.Key("choices");
    json.BeginArray();
    for (const std::string_view choice : option.choices()) json.String(choice);
    json.EndArray();
  }
  json.EndObject();
}

void WriteCommand(JsonWriter& json, const Command& command) {
  json.BeginObject();
  json.Field("name", command.name);
  json.Field("help", command.help);
  json.Key("arguments");
  json.BeginArray();
  for (const PositionalSpec& positional : command.positionals) {
    json.BeginObject();
    json.Field("name", positional.name);
    json.Field("help", positional.help);
    json.EndObject();
  }
  json.EndArray();
  json.Key("options");
  json.BeginArray();
  for (const OptionSpec& option : OptionsOf(command)) WriteOption(json, option);
  json.EndArray();
  json.EndObject();
}

std::string AsJson(const std::vector<const Command*>& commands) {
  std::string out;
  JsonWriter json(out, 2);
  json.BeginObject();
  WriteJsonHeader(json);
  json.Key("commands");
  json.BeginArray();
  for (const Command* command : commands) WriteCommand(json, *command);
  json.EndArray();
  json.EndObject();
  return out + "\n";
}

std::vector<std::string_view> Verbs() {
  std::vector<std::string_view> names;
  for (const Command* command : AllCommands()) names.push_back(command->name);
  return names;
}

Result<int> Execute(const Arguments& arguments, Session& session) {
  const auto all = AllCommands();
  if (arguments.positionals().empty()) {
    return PrintTextOrJson(
        arguments, [&] { return Overview(session.terminal.width); },
        [&] {
          return AsJson({all.begin(), all.end()});
        });
  }
  const Command* command = FindCommand(arguments.positionals()[0]);  // there is one: the parser checked the choices
  return PrintTextOrJson(
      arguments, [&] { return HelpOf(*command, session.terminal.width); }, [&] { return AsJson({command}); });
}

constexpr PositionalSpec kPositionals[] = {{.name = "VERB",
                                            .help = "the verb to explain; without it, all verbs are listed",
                                            .min = 0,
                                            .max = 1,
                                            .choices = Verbs}};
constexpr Example kExamples[] = {{"gapless help query", "Explains the verb query"}};

}  // namespace

COMMAND(help) = {.name = "help",
                 .help = "Explain a verb, or list them all",
                 .about = "Prints the help of a verb, as `gapless VERB --help` does. With --json, the grammar as data.",
                 .positionals = kPositionals,
                 .options = {},
                 .examples = kExamples,
                 .run = Execute};

}  // namespace gapless::internal
