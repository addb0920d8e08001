// SPDX-License-Identifier: Apache-2.0
// A verb of the program, described as data: parsing, help, man page, shell completion and reference are made from it.
//
// To add one: write src/cli/commands/<verb>.cc with a struct of what may be typed (option.h), and end it with
//   COMMAND(<verb>) = {.name = "<verb>", .place = {groups::kFind, 7}, .help = "…", .call = kCall<Execute>};
// for Result<int> Execute(const <Verb>Arguments& arguments, Session& session). `--help` and `--json[=FILE]` need no
// mention: every verb has them (Execute must honour the latter).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "base/result.h"
#include "cli/arguments.h"
#include "cli/session.h"

namespace gapless::internal {

// An example of the help and of the reference, as it is typed.
struct Example {
  std::string_view line = {};  // a whole command line
  std::string_view what = {};  // what it does
};

// All that a verb takes and does, as its struct declares it. `run` gives the exit status (the page
// reference/commands.md); its arguments are what `make` made.
struct Call {
  std::span<const WordSpec> words;
  std::span<const OptionSpec> options;
  std::unique_ptr<Arguments> (*make)();
  Result<int> (*run)(const Arguments& arguments, Session& session);
};
template <class A>
inline constexpr auto kOptionsOf = A::kOptions.template For<A>();
template <class A>
inline constexpr auto kWordsOf = A::kWords.template For<A>();
template <auto Execute, class A>
consteval Call CallOf(Result<int> (*)(const A&, Session&)) {
  return {.words = kWordsOf<A>,
          .options = kOptionsOf<A>,
          .make = []() -> std::unique_ptr<Arguments> { return std::make_unique<A>(); },
          .run = [](const Arguments& arguments,
                    Session& session) { return Execute(static_cast<const A&>(arguments), session); }};
}
template <auto Execute>
inline constexpr Call kCall = CallOf<Execute>(Execute);

// The verbs in the order in which a person meets them.
struct Group {
  std::string_view name, what;
};
namespace groups {
inline constexpr Group kFind{"find", "where the time goes"};
inline constexpr Group kFix{"fix", "what costs it"};
inline constexpr Group kProve{"prove", "that it helped"};
inline constexpr Group kGuard{"guard", "what was gained"};
inline constexpr Group kJobs{"jobs", "of many ranks"};
inline constexpr Group kMore{"more", "for other programs, and about this one"};
}  // namespace groups
inline constexpr const Group* kGroups[] = {&groups::kFind,  &groups::kFix,  &groups::kProve,
                                           &groups::kGuard, &groups::kJobs, &groups::kMore};

// The place of a command in lists of commands. A reference, so that a description without one does not compile.
struct Place {
  const Group& group;
  int position;  // in the group, from 1
};

// The description of a command. All texts are constants of the program.
struct Command {
  std::string_view name;  // equals the file name, with dashes for underscores
  Place place;
  std::string_view help;   // one line of at most 72 characters
  std::string_view about;  // paragraphs, separated by an empty line
  std::span<const Example> examples;
  bool takes_command = false;   // is there something after `--`?
  bool only_reads = false;      // starts and records nothing; may be ended anywhere after a signal (stop_guard.h)
  bool ends_by_signal = false;  // runs until a signal, which is no failure
  // Documents that it prints with --json: schema/<name>.schema.json is made from these.
  std::span<const TypeInfo* const> documents = {};
  int own_failure = 0;  // the exit status of our own failures, where the command's own is passed on; 0: by the error
  Call call;
};

#define COMMAND(n)                  \
  extern const Command n##_command; \
  constinit const Command n##_command

std::span<const Command* const> AllCommands();               // sorted by name; generated from the folder
std::vector<const Command*> CommandsOf(const Group& group);  // sorted by position

// The options of a verb as the user sees them: its own, then --keep-command where it takes a command, --json and
// --help.
std::vector<OptionSpec> OptionsOf(const Command& command);
// The same with the hidden ones.
std::vector<OptionSpec> ParsedOptionsOf(const Command& command);
// Returns the command called `name`; null if no command has that name.
const Command* FindCommand(std::string_view name);

}  // namespace gapless::internal
