// SPDX-License-Identifier: Apache-2.0
// Writes completions for bash, zsh and fish. The lists of words are fixed when the page is written; file names are the
// shell's.
//
// Each script completes the command, its options, the values of options with choices, and the first argument where it
// has choices. Nothing of gapless runs while the user types. Texts stand in single quotes, so a quote in a text is
// replaced by the typographic one.
#include "base/strings.h"
#include "cli/command.h"
#include "cli/docs/pages.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kNote = "# Completion for gapless. Written by `gapless docs`.\n";

std::string Words(const std::vector<std::string_view>& words) {
  const std::vector<std::string> copies(words.begin(), words.end());
  return Join(copies, " ");
}

std::string Verbs() {
  std::vector<std::string_view> names;
  for (const Command* command : AllCommands()) names.push_back(command->name);
  return Words(names);
}

std::string OptionWords(const Command& command) {
  std::vector<std::string> words;
  for (const OptionSpec& option : OptionsOf(command)) words.push_back(StrCat("--", option.name));
  return Join(words, " ");
}

// Returns the fixed values of a command's first argument; "" for commands whose arguments are paths.
std::string ArgumentWords(const Command& command) {
  for (const WordSpec& word : command.call.words) {
    if (word.choices != nullptr) return Words(word.choices());
  }
  return {};
}

// Returns a description for _arguments of zsh, which treats brackets and colons specially.
std::string Description(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "’";
    } else if (c == '[' || c == ']' || c == ':') {
      out += StrCat("\\", c);
    } else {
      out += c;
    }
  }
  return out;
}

// Returns a text for single quotes, without single quotes.
std::string PlainDescription(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\'' ? std::string("’") : std::string(1, c);
  return out;
}

// Returns one line of _arguments. "=-" makes zsh take a value only behind the equals sign, as the parser does.
std::string ZshOption(const OptionSpec& option) {
  std::string value;
  if (option.takes != OptionSpec::Takes::kNothing) {
    const std::string action = option.choices != nullptr ? StrCat("(", Words(option.choices()), ")")
                               : option.value == "FILE"  ? "_files"
                                                         : " ";
    value = StrCat(":", option.value, ":", action);
  }
  const std::string_view equals = option.takes == OptionSpec::Takes::kOptionalValue ? "=-" : "";
  const std::string colon = option.takes == OptionSpec::Takes::kOptionalValue ? ":" + value : value;
  return StrCat("        '--", option.name, equals, "[", Description(option.help), "]", colon, "' \\\n");
}

}  // namespace

// The value of an option is completed if the word before is that option; then the words of options are not offered.
std::string BashCompletion() {
  std::string out = StrCat(
      kNote,
      "_gapless() {\n  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]}\n");
  out += "  local words='' option\n  COMPREPLY=()\n";
  out += StrCat("  if ((COMP_CWORD == 1)); then\n    words='", Verbs(),
                " --help --version'\n  else\n    case \"$verb $prev\" in\n");
  for (const Command* command : AllCommands()) {
    for (const OptionSpec& option : OptionsOf(*command)) {
      if (option.choices == nullptr) continue;
      out += StrCat("      '", command->name, " --", option.name, "') words='", Words(option.choices()),
                    "' option=1 ;;\n");
    }
  }
  out += "    esac\n    if [[ -z ${option-} ]]; then\n      case $verb in\n";
  for (const Command* command : AllCommands()) {
    const std::string values = ArgumentWords(*command);
    out += StrCat("        ", command->name, ") if [[ $cur == -* ]]; then words='", OptionWords(*command),
                  "'; else words='", values, "'; fi ;;\n");
  }
  out += "      esac\n    fi\n  fi\n";
  out += "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n}\n";
  return out + "complete -o default -o bashdefault -F _gapless gapless\n";
}

// Writes a function with a case per command, which hands the rest of the line to _arguments.
std::string ZshCompletion() {
  std::string out = StrCat("#compdef gapless\n", kNote, "_gapless() {\n  local -a verbs\n  verbs=(\n");
  for (const Command* command : AllCommands()) {
    out += StrCat("    '", command->name, ":", PlainDescription(command->help), "'\n");
  }
  out += "  )\n  if ((CURRENT == 2)); then\n    _describe verb verbs\n    return\n  fi\n";
  out += "  local verb=${words[2]}\n  shift words\n  ((CURRENT--))\n  case $verb in\n";
  for (const Command* command : AllCommands()) {
    const std::string values = ArgumentWords(*command);
    out += StrCat("    ", command->name, ")\n      _arguments \\\n");
    for (const OptionSpec& option : OptionsOf(*command)) out += ZshOption(option);
    out += values.empty() ? "        '*:path:_files'\n" : StrCat("        '*:value:(", values, ")'\n");
    out += "      ;;\n";
  }
  return out + "  esac\n}\n_gapless \"$@\"\n";
}

// Writes one `complete` line per option. -r is an option that needs a value, -x one whose value is no file.
std::string FishCompletion() {
  std::string out = StrCat(kNote, "complete -c gapless -n __fish_use_subcommand -l version -d 'Show the version'\n");
  for (const Command* command : AllCommands()) {
    out += StrCat("complete -c gapless -n __fish_use_subcommand -f -a ", command->name, " -d '",
                  PlainDescription(command->help), "'\n");
    const std::string seen = StrCat("complete -c gapless -n '__fish_seen_subcommand_from ", command->name, "'");
    for (const OptionSpec& option : OptionsOf(*command)) {
      out += StrCat(seen, " -l ", option.name);
      if (option.letter != 0) out += StrCat(" -s ", option.letter);
      if (option.takes == OptionSpec::Takes::kValue) out += option.choices != nullptr ? " -x" : " -r";
      if (option.choices != nullptr) out += StrCat(" -a '", Words(option.choices()), "'");
      out += StrCat(" -d '", PlainDescription(option.help), "'\n");
    }
    if (const std::string values = ArgumentWords(*command); !values.empty())
      out += StrCat(seen, " -f -a '", values, "'\n");
  }
  return out;
}

}  // namespace gapless::internal
