// SPDX-License-Identifier: Apache-2.0
// A verb of the program, described as data: parsing, help, man page, shell completion and reference are made from it.
//
// To add one: write src/cli/commands/<verb>.cc and end it with
//   COMMAND(<verb>) = {.name = "<verb>", .help = "…", .positionals = kPositionals, .options = kOptions, .run = Run};
// `--help` and `--json[=FILE]` need no mention: every verb has them (run() must honour the latter).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "base/result.h"
#include "cli/arguments.h"
#include "cli/session.h"

namespace gapless::internal {

// An option. Names are never reused for another meaning: scripts rely on them.
struct OptionSpec {
  enum class Takes { kNothing, kValue, kOptionalValue };  // an optional value is given as --name=VALUE only
  std::string_view name = {};                             // without dashes
  char letter = 0;                                        // short form; 0: none
  Takes takes = Takes::kNothing;
  std::string_view value = {};  // what the value is called in help: "FILE", "LIST"
  std::string_view help = {};   // one line, imperative or what it does, no period; "": hidden, for developers
  // Values there are, for checking and completion; null: any. A LIST is checked item by item.
  std::vector<std::string_view> (*choices)() = nullptr;
  bool is_list = false;  // items separated by commas
};

// Words without dashes, `min` to `max` of them. The last description of a command may take several words.
struct PositionalSpec {
  std::string_view name = {};  // "PATH"
  std::string_view help = {};
  size_t min = 0, max = 0;
  bool is_path = false;  // the shell completes file names
  std::vector<std::string_view> (*choices)() = nullptr;
  std::span<const std::string_view> unless = {};  // options that make it unnecessary
};

// An example of the help and of the reference, as it is typed.
struct Example {
  std::string_view line = {};  // a whole command line
  std::string_view what = {};  // what it does
};

// The description of a command. All texts are constants of the program.
struct Command {
  std::string_view name;   // equals the file name
  std::string_view help;   // one line of at most 72 characters
  std::string_view about;  // paragraphs, separated by an empty line
  // Arguments in the order in which they are typed; options in the order of the help.
  std::span<const PositionalSpec> positionals;
  std::span<const OptionSpec> options;
  std::span<const Example> examples;
  bool takes_command = false;  // is there something after `--`?
  bool only_reads = false;     // starts and records nothing; may be ended anywhere after a signal (stop_guard.h)
  // Documents that it prints with --json: docs/schema/<name>.schema.json is made from these.
  std::span<const TypeInfo* const> documents = {};
  int own_failure = 0;  // the exit status of our own failures, where the command's own is passed on; 0: by the error
  // Gives the exit status (docs/reference/commands.md).
  Result<int> (*run)(const Arguments& arguments, Session& session);
};

#define COMMAND(n)                  \
  extern const Command n##_command; \
  constinit const Command n##_command

std::span<const Command* const> AllCommands();  // sorted by name; generated from the folder

// The option that every verb has.
inline constexpr OptionSpec kJsonOption = {.name = "json",
                                           .takes = OptionSpec::Takes::kOptionalValue,
                                           .value = "FILE",
                                           .help = "Print JSON instead of text, or write it to FILE in addition"};
// The option that every verb with a command has.
inline constexpr OptionSpec kKeepCommandOption = {
    .name = "keep-command", .help = "Store the command unchanged, including words that look like secrets"};
inline constexpr OptionSpec kHelpOption = {.name = "help", .letter = 'h', .help = "Show this help"};

// The options of a verb as the user sees them: its own, then --keep-command where it takes a command, --json and
// --help.
std::vector<OptionSpec> OptionsOf(const Command& command);
// The same with the hidden ones.
std::vector<OptionSpec> ParsedOptionsOf(const Command& command);
// Returns the command called `name`; null if no command has that name.
const Command* FindCommand(std::string_view name);

}  // namespace gapless::internal
