// SPDX-License-Identifier: Apache-2.0
// The only file that includes the command-line library: turns words into the struct of a command by its description.
//
// CLI11 2.1 drops a `--`, and lets an option with an optional value take the next word as its value. So the arguments
// are cut at the first `--` before it sees them, and a bare `--json` is rewritten to `--json=-`.
//
// CLI11 only splits the words. Choices, numbers of arguments and unknown options are checked here, so that every fault
// has the program's own sentence and a hint with the nearest name. With --help nothing is checked: the help must be
// printed whatever else the line holds.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/strings.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "cli/meant.h"

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

// Checks each item of a value. "-" stands for an optional value that was not given.
Result<void> CheckChoice(const OptionSpec& option, std::string_view value) {
  if (option.choices == nullptr || (value == "-" && option.takes == OptionSpec::Takes::kOptionalValue)) return {};
  const std::vector<std::string_view> choices = option.choices();
  for (const std::string_view item : option.is_list ? Split(value, ',') : std::vector<std::string_view>{value}) {
    if ((item.empty() && option.is_list) || std::ranges::find(choices, item) != choices.end()) continue;
    const std::vector<std::string> names(choices.begin(), choices.end());
    const std::string_view nearest = Nearest(item, choices);
    return Fail(ErrorCode::kUsage, StrCat("--", option.name, " does not accept '", Printable(item), "'"), "",
                nearest.empty() ? "there are: " + Join(names, ", ") : StrCat("did you mean ", nearest, "?"));
  }
  return {};
}

Result<void> CheckChoice(const WordSpec& word, std::string_view given) {
  if (word.choices == nullptr) return {};
  const std::vector<std::string_view> choices = word.choices();
  if (std::ranges::find(choices, given) != choices.end()) return {};
  const std::string_view nearest = Nearest(given, choices);
  const std::vector<std::string> names(choices.begin(), choices.end());
  const bool vowel = std::string_view("AEIOU").find(word.name[0]) != std::string_view::npos;
  return Fail(ErrorCode::kUsage, StrCat("'", Printable(given), "' is not a", vowel ? "n " : " ", word.name), "",
              nearest.empty() ? "there are: " + Join(names, ", ") : StrCat("did you mean ", nearest, "?"));
}

// The words as CLI11 has split them.
struct SplitWords {
  std::vector<std::vector<std::string>> values;  // per option, one for each time it was given; "" where it takes none
  std::vector<std::string> words;
};

// Describes the options to CLI11 and lets it split the words. All values are texts; an option may be repeated.
Result<SplitWords> RunParser(const Command& command, std::span<const std::string> words,
                             const std::vector<OptionSpec>& options) {
  CLI::App app;
  // --help is an option of the description like any other; words that CLI11 does not know are reported by
  // UnknownOption().
  app.set_help_flag();
  app.allow_extras();
  std::vector<CLI::Option*> handles;
  SplitWords split{.values = std::vector<std::vector<std::string>>(options.size()), .words = {}};
  for (size_t i = 0; i < options.size(); ++i) {
    const OptionSpec& option = options[i];
    const std::string names =
        option.letter != 0 ? StrCat("-", option.letter, ",--", option.name) : StrCat("--", option.name);
    // Every occurrence of an option takes exactly one value, and all of them are kept in order.
    handles.push_back(option.takes == OptionSpec::Takes::kNothing
                          ? app.add_flag(names)
                          : app.add_option(names, split.values[i])->expected(1)->allow_extra_args(false)->take_all());
  }
  CLI::Option* rest = app.add_option("words", split.words)->expected(-1);
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
  if (rest->count() == 0) split.words.clear();
  for (size_t i = 0; i < options.size(); ++i) {
    if (handles[i]->count() == 0) split.values[i].clear();
    if (options[i].takes == OptionSpec::Takes::kNothing) split.values[i].resize(handles[i]->count() > 0 ? 1 : 0);
  }
  return split;
}

// Fills the members of all options, and returns the first error.
Result<void> TakeOptions(const std::vector<OptionSpec>& options, const SplitWords& split, Arguments& arguments) {
  Result<void> first;
  for (size_t i = 0; i < options.size(); ++i) {
    for (const std::string& value : split.values[i]) {
      Result<void> taken = CheckChoice(options[i], value);
      if (taken) taken = options[i].take(options[i], value, arguments);
      if (first) first = std::move(taken);
    }
  }
  return first;
}

// Gives each description as many of the words as it takes, and leaves those that the ones after it need.
Result<void> TakeWords(const Command& command, std::span<const std::string> given, Arguments& arguments) {
  const auto needed = [&](const WordSpec& word) { return word.is_needless(arguments) ? size_t{0} : word.min; };
  size_t later = 0;
  for (const WordSpec& word : command.call.words) later += needed(word);
  for (const WordSpec& word : command.call.words) {
    const size_t min = needed(word);
    later -= min;
    if (given.size() < min)
      return Fail(ErrorCode::kUsage, StrCat(command.name, " needs ", word.name, ": ", word.help), "",
                  command.examples.empty()                         ? HelpHint(command)
                  : word.is_path && min == 1 && command.only_reads ? LineWithPath(command)
                                                                   : std::string(command.examples.front().line));
    const size_t most = given.size() > min + later ? given.size() - later : min;
    const size_t count = std::min(most, word.max);
    for (const std::string& text : given.first(count)) {
      GAPLESS_TRY(CheckChoice(word, text));
      GAPLESS_TRY(word.take(word, text, arguments));
    }
    given = given.subspan(count);
  }
  if (given.empty()) return {};
  return Fail(ErrorCode::kUsage, StrCat("unexpected argument '", Printable(given[0]), "'"), "", HelpHint(command));
}

// Cuts the words at the first `--`, lets CLI11 split those before it, and reads what came out.
Result<std::unique_ptr<Arguments>> Parse(const Command& command, std::span<const std::string> args) {
  const auto dashes = std::ranges::find(args, "--");
  std::unique_ptr<Arguments> arguments = command.call.make();
  if (dashes != args.end()) {
    if (!command.takes_command) {
      return Fail(ErrorCode::kUsage, StrCat(command.name, " runs no command, so nothing may follow `--`"), "",
                  HelpHint(command));
    }
    arguments->command.assign(dashes + 1, args.end());
  }
  const std::vector<OptionSpec> options = ParsedOptionsOf(command);
  GAPLESS_ASSIGN(const auto split, RunParser(command, args.first(static_cast<size_t>(dashes - args.begin())), options));
  const auto taken = TakeOptions(options, split, *arguments);
  // Nothing else must be right for --help.
  if (arguments->help) return arguments;
  GAPLESS_TRY(taken);
  GAPLESS_TRY(TakeWords(command, split.words, *arguments));
  return arguments;
}

}  // namespace

// A command that was typed without `--` is taken for words and options of ours, which they may even be: a script is
// never what a verb that takes a command reads.
Result<std::unique_ptr<Arguments>> ParseArguments(const Command& command, std::span<const std::string> args) {
  auto parsed = Parse(command, args);
  if (parsed && ((*parsed)->help || std::ranges::none_of(args, IsPythonScript))) return parsed;
  std::string line = WithDashes(command, args);
  if (line.empty()) return parsed;
  return Fail(ErrorCode::kUsage, "the command must stand after `--`", "", std::move(line));
}

}  // namespace gapless::internal
