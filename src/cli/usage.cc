// SPDX-License-Identifier: Apache-2.0
// Formats the help of commands from their descriptions.
//
// Lines are wrapped to the terminal, at most 100 columns. Terms stand in a column as wide as the widest of at most 26
// columns; a wider term has its text on the next line. Hidden options, which have no help, are left out.
//
//   usage: gapless trigger RUN [--steps N] [--memory] [--python SECONDS] [--fix ID]
//                          [--unfix ID] [--stop-after N] [--timeout SECONDS]
//                          [--json[=FILE]]
#include "cli/usage.h"

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "base/version.h"

namespace gapless::internal {
namespace {

constexpr int kIndent = 2;
constexpr int kWidestTerm = 26;  // a longer term has its text on the next line
constexpr int kReadable = 100;   // longer lines are hard to read

// Appends "  term     text", the text wrapped under itself.
void AppendTerm(std::string& out, const std::string& term, std::string_view text, int column, int width) {
  std::string line(kIndent, ' ');
  line += term;
  const std::string wrapped = Wrap(text, width, column);
  if (DisplayWidth(line) + 2 > column) {
    out += line + "\n" + wrapped;
    return;
  }
  line.append(static_cast<size_t>(column - DisplayWidth(line)), ' ');
  out += line;
  out += std::string_view(wrapped).substr(std::min(wrapped.size(), static_cast<size_t>(column)));
}

// Returns the column in which the texts of a section begin.
int TermColumn(const std::vector<std::string>& terms) {
  int widest = 0;
  for (const std::string& term : terms) {
    if (DisplayWidth(term) <= kWidestTerm) widest = std::max(widest, DisplayWidth(term));
  }
  return kIndent + widest + 2;
}

void AppendSection(std::string& out, std::string_view title, const std::vector<std::string>& terms,
                   const std::vector<std::string>& texts, int width) {
  if (terms.empty()) return;
  out += StrCat("\n", title, ":\n");
  const int column = TermColumn(terms);
  for (size_t i = 0; i < terms.size(); ++i) AppendTerm(out, terms[i], texts[i], column, width);
}

// Returns the help of an option with its choices. Choices that an option before has, too, are not listed again.
std::string HelpOfOption(const OptionSpec& option, std::span<const OptionSpec> before) {
  std::string text(option.help);
  if (option.choices == nullptr) return text;
  // The same function means the same list.
  for (const OptionSpec& option_spec : before)
    if (option_spec.choices == option.choices) return StrCat(text, ": as --", option_spec.name);
  const auto choices = option.choices();
  const std::vector<std::string> names(choices.begin(), choices.end());
  return names.empty() ? text : StrCat(text, ": ", Join(names, ", "));
}

}  // namespace

std::string Wrap(std::string_view text, int width, int indent) {
  const std::string margin(static_cast<size_t>(indent), ' ');
  std::string out;
  for (const std::string_view paragraph : Split(text, '\n')) {
    const std::vector<std::string> lines = WrapWords(paragraph, width - indent);
    for (const std::string& line : lines) out += StrCat(margin, line, "\n");
    if (lines.empty()) out += "\n";
  }
  return out;
}

std::string OptionSyntax(const OptionSpec& option) {
  std::string text = option.letter != 0 ? StrCat("-", option.letter, ", ") : "";
  text += StrCat("--", option.name);
  if (option.takes == OptionSpec::Takes::kValue) text += StrCat(" ", option.value);
  if (option.takes == OptionSpec::Takes::kOptionalValue) text += StrCat("[=", option.value, "]");
  return text;
}

std::string WordSyntax(const WordSpec& word) {
  const std::string name = StrCat(word.name, word.max > 1 ? "..." : "");
  return word.min == 0 ? StrCat("[", name, "]") : name;
}

// An option and its value are joined by "~" while the line is wrapped, so that they stay together.
std::string UsageLine(const Command& command, int width) {
  std::string words;
  for (const WordSpec& word : command.call.words) words += " " + WordSyntax(word);
  for (const OptionSpec& option : OptionsOf(command)) {
    OptionSpec shown = option;
    if (shown.letter != 0 && shown.name == "help") continue;
    shown.letter = 0;
    std::string syntax = StrCat(" [", OptionSyntax(shown), "]");
    std::replace(syntax.begin() + 1, syntax.end(), ' ', '~');  // an option and its value stay together
    words += syntax;
  }
  if (command.takes_command) words += " -- COMMAND...";
  const std::string start = StrCat("usage: gapless ", command.name);
  std::string text = Wrap(words, std::min(width, kReadable), static_cast<int>(start.size()) + 1);
  std::ranges::replace(text, '~', ' ');
  return start + text.substr(std::min(text.size(), start.size()));
}

// Prints usage, description, arguments, options and examples; sections without content are left out.
std::string HelpOf(const Command& command, int given_width) {
  const int width = std::min(given_width, kReadable);
  std::string out = UsageLine(command, width);
  out += StrCat("\n", Wrap(command.about, width, 0));
  std::vector<std::string> terms, texts;
  for (const WordSpec& word : command.call.words) {
    terms.push_back(WordSyntax(word));
    texts.emplace_back(word.help);
  }
  AppendSection(out, "arguments", terms, texts, width);
  terms.clear();
  texts.clear();
  const std::vector<OptionSpec> options = OptionsOf(command);
  for (const OptionSpec& option : options) {
    terms.push_back(OptionSyntax(option));
    texts.push_back(HelpOfOption(option, std::span(options).first(texts.size())));
  }
  AppendSection(out, "options", terms, texts, width);
  if (!command.examples.empty()) out += "\nexamples:\n";
  for (const Example& example : command.examples) {
    out += StrCat("  ", example.line, "\n", Wrap(example.what, width, 6));
  }
  return out;
}

// Lists all commands by groups, the texts in one column, and the line that most users begin with.
std::string Overview(int given_width) {
  const int width = std::min(given_width, kReadable);
  std::string out = StrCat("gapless ", kVersion, ": ", kOneLiner, "\n\nusage: gapless VERB ...\n");
  std::vector<std::string> names;
  for (const Command* command : AllCommands()) names.emplace_back(command->name);
  const int column = TermColumn(names);
  for (const Group* group : kGroups) {
    out += StrCat("\n", group->name, " ", group->what, ":\n");
    for (const Command* command : CommandsOf(*group))
      AppendTerm(out, std::string(command->name), command->help, column, width);
  }
  out += "\n";
  out += Wrap("Begin with: gapless profile -- python train.py, or gapless analyze TRACE (what a profiler wrote).",
              width, 0);
  out += Wrap("`gapless VERB --help` explains a verb; `gapless --version` prints the version.", width, 0);
  return out;
}

std::span<const ExitCode> ExitCodes() {
  static constexpr std::array<ExitCode, 7> kCodes = {{
      {0, "fine"},
      {1, "the answer is no: a regression, a stale page, not faster"},
      {2, "wrong usage: an unknown option, a statement that is not SQL"},
      {3, "bad input: nothing could be read"},
      {4, "the environment lacks something, or the output cannot be written"},
      {5, "a command run for a measurement failed, or gapless same cannot decide"},
      {130, "stopped by SIGINT; 129 by SIGHUP, 131 by SIGQUIT, 143 by SIGTERM (128 + the number of the signal)"},
  }};
  return kCodes;
}

}  // namespace gapless::internal
