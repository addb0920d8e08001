// SPDX-License-Identifier: Apache-2.0
// The only file that includes the command-line library: turns words into Arguments by a command's description.
//
// CLI11 2.1 drops a `--`, and lets an option with an optional value take the next word as its value. So the arguments
// are cut at the first `--` before it sees them, and a bare `--json` is rewritten to `--json=-`.
//
// CLI11 only splits the words. Choices, numbers of arguments and unknown options are checked here, so that every fault
// has the program's own sentence and a hint with the nearest name. With --help nothing is checked: the help must be
// printed whatever else the line holds.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "base/strings.h"
#include "base/suggest.h"
#include "cli/command.h"

namespace gapless::internal {
namespace {

std::string HelpHint(const Command& command) { return StrCat("gapless ", command.name, " --help"); }

// Returns the words for CLI11, which wants them reversed.
std::vector<std::string> Prepared(std::span<const std::string> words, const std::vector<OptionSpec>& options) {
  std::vector<std::string> prepared;
  for (const std::string& word : words) {
    const bool bare = std::ranges::any_of(options, [&](const OptionSpec& option) {
      return option.takes == OptionSpec::Takes::kOptionalValue && word == StrCat("--", option.name);
    });
    prepared.push_back(bare ? word + "=-" : word);
  }
  std::ranges::reverse(prepared);
  return prepared;
}

// Returns the error for an option that the command does not have, with the nearest one as a hint.
Unexpected UnknownOption(const Command& command, std::string word, const std::vector<OptionSpec>& options) {
  word = word.substr(0, word.find('='));
  std::vector<std::string> names;
  for (const OptionSpec& option : options) names.push_back(StrCat("--", option.name));
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string_view nearest = Nearest(word, views);
  return Fail(ErrorCode::kUsage, StrCat("unknown option ", Printable(word)), "",
              nearest.empty() ? HelpHint(command) : StrCat("did you mean ", nearest, "?"));
}

// Checks each item of each value. "-" stands for an optional value that was not given.
Result<void> CheckChoices(const OptionSpec& option, const std::vector<std::string>& values) {
  if (option.choices == nullptr) return {};
  const std::vector<std::string_view> choices = option.choices();
  for (const std::string& value : values) {
    for (const std::string_view item : option.is_list ? Split(value, ',') : std::vector<std::string_view>{value}) {
      if (item.empty() || (item == "-" && option.takes == OptionSpec::Takes::kOptionalValue)) continue;  // none given
      if (std::ranges::find(choices, item) != choices.end()) continue;
      const std::vector<std::string> names(choices.begin(), choices.end());
      return Fail(ErrorCode::kUsage, StrCat("--", option.name, " does not accept '", Printable(item), "'"), "",
                  "there are: " + Join(names, ", "));
    }
  }
  return {};
}

// Checks the number of arguments, then the choices of the first one. An option can make an argument unnecessary.
Result<void> CheckPositionals(const Command& command, const Arguments& arguments) {
  const std::vector<std::string>& given = arguments.positionals();
  size_t min = 0, max = 0;
  for (const PositionalSpec& positional : command.positionals) {
    const bool needed =
        std::ranges::none_of(positional.unless, [&](std::string_view option) { return arguments.Has(option); });
    min += needed ? positional.min : 0;
    max += positional.max;
    if (given.size() >= min) continue;
    return Fail(ErrorCode::kUsage, StrCat(command.name, " needs ", positional.name, ": ", positional.help), "",
                HelpHint(command));
  }
  for (const PositionalSpec& positional : command.positionals) {
    if (positional.choices == nullptr || given.empty()) continue;  // only a verb's one argument has choices
    const auto choices = positional.choices();
    if (std::ranges::find(choices, given[0]) != choices.end()) continue;
    const std::string_view nearest = Nearest(given[0], choices);
    const std::vector<std::string> names(choices.begin(), choices.end());
    const bool vowel = std::string_view("AEIOU").find(positional.name[0]) != std::string_view::npos;
    return Fail(ErrorCode::kUsage, StrCat("'", Printable(given[0]), "' is not a", vowel ? "n " : " ", positional.name),
                "", nearest.empty() ? "there are: " + Join(names, ", ") : StrCat("did you mean ", nearest, "?"));
  }
  if (given.size() > max) {
    return Fail(ErrorCode::kUsage, StrCat("unexpected argument '", Printable(given[max]), "'"), "", HelpHint(command));
  }
  return {};
}

// The words as CLI11 has split them.
struct Parsed {
  std::map<std::string, std::vector<std::string>, std::less<>> values;  // per option given
  std::vector<std::string> positionals;
};

// Describes the options to CLI11 and lets it split the words. All values are texts; an option may be repeated.
Result<Parsed> RunParser(const Command& command, std::span<const std::string> words,
                         const std::vector<OptionSpec>& options) {
  CLI::App app;
  // --help is an option of the description like any other; words that CLI11 does not know are reported by
  // UnknownOption().
  app.set_help_flag();
  app.allow_extras();
  std::map<std::string_view, CLI::Option*> handles;
  std::map<std::string_view, std::vector<std::string>> values;
  for (const OptionSpec& option : options) {
    const std::string names =
        option.letter != 0 ? StrCat("-", option.letter, ",--", option.name) : StrCat("--", option.name);
    // Every occurrence of an option takes exactly one value, and all of them are kept in order.
    handles[option.name] =
        option.takes == OptionSpec::Takes::kNothing
            ? app.add_flag(names)
            : app.add_option(names, values[option.name])->expected(1)->allow_extra_args(false)->take_all();
  }
  Parsed parsed;
  CLI::Option* positionals = app.add_option("positionals", parsed.positionals)->expected(-1);
  try {
    std::vector<std::string> prepared = Prepared(words, options);
    app.parse(prepared);
  } catch (const CLI::ParseError& error) {
    return Fail(ErrorCode::kUsage, error.what(), "", HelpHint(command));
  }
  for (const std::string& word : app.remaining()) {
    if (word.size() > 1 && word[0] == '-') return UnknownOption(command, word, options);
  }
  // The list holds words only if some were given for it.
  if (positionals->count() == 0) parsed.positionals.clear();
  for (const auto& [name, handle] : handles) {
    if (handle->count() > 0) parsed.values[std::string(name)] = values[name];
  }
  return parsed;
}

}  // namespace

// Cuts the words at the first `--`, lets CLI11 split those before it, and checks what came out.
Result<Arguments> ParseArguments(const Command& command, std::span<const std::string> args) {
  const auto dashes = std::ranges::find(args, "--");
  Arguments arguments;
  if (dashes != args.end()) {
    if (!command.takes_command) {
      return Fail(ErrorCode::kUsage, StrCat(command.name, " runs no command, so nothing may follow `--`"), "",
                  HelpHint(command));
    }
    arguments.command_.assign(dashes + 1, args.end());
  }
  const std::vector<OptionSpec> options = ParsedOptionsOf(command);
  GAPLESS_ASSIGN(auto parsed, RunParser(command, args.first(static_cast<size_t>(dashes - args.begin())), options));
  arguments.options_ = std::move(parsed.values);
  arguments.positionals_ = std::move(parsed.positionals);
  // Nothing else must be right for --help.
  if (arguments.Has("help")) return arguments;
  for (const OptionSpec& option : options) {
    const auto given = arguments.options_.find(option.name);
    if (given != arguments.options_.end()) GAPLESS_TRY(CheckChoices(option, given->second));
  }
  GAPLESS_TRY(CheckPositionals(command, arguments));
  return arguments;
}

}  // namespace gapless::internal
