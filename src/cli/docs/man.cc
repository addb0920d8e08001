// SPDX-License-Identifier: Apache-2.0
// Writes the manual page, in the man(7) macros. It has the same texts as the help, from the same descriptions.
#include "base/strings.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/docs/pages.h"
#include "cli/usage.h"

namespace gapless::internal {
namespace {

// Escapes text for roff: backslashes, dashes that must stay dashes, and lines that would begin with a control
// character.
std::string Roff(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    line_start = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

// Begins a paragraph at each line that is not empty.
std::string Paragraphs(std::string_view text) {
  std::string out;
  for (const std::string_view line : Split(text, '\n')) out += line.empty() ? "" : StrCat(".PP\n", Roff(line), "\n");
  return out;
}

// Returns a bold term with its text indented below.
std::string Term(const std::string& term, std::string_view text) {
  return StrCat(".TP\n\\fB", Roff(term), "\\fR\n", Roff(text), "\n");
}

// Returns the subsection of a command: help, description, arguments and options.
std::string Verb(const Command& command) {
  std::string out = StrCat(".SS ", command.name, "\n", Roff(command.help), ".\n", Paragraphs(command.about));
  for (const WordSpec& word : command.call.words) out += Term(WordSyntax(word), word.help);
  for (const OptionSpec& option : OptionsOf(command)) out += Term(OptionSyntax(option), option.help);
  return out;
}

}  // namespace

// Writes the sections in the usual order of man pages.
std::string ManPage() {
  std::string out =
      StrCat(".\\\" Written by `gapless docs`.\n.TH GAPLESS 1 \"\" \"gapless ", kVersion, "\" \"User Commands\"\n");
  out += StrCat(".SH NAME\ngapless \\- ", Roff(kOneLiner), "\n");
  out += ".SH SYNOPSIS\n.B gapless\n.I VERB\n.RI [ ARGUMENT ...]\n";
  out += ".SH VERBS\n";
  for (const Group* group : kGroups) {
    std::vector<std::string> names;
    for (const Command* command : CommandsOf(*group)) names.emplace_back(command->name);
    out += Term(StrCat(group->name, " ", group->what), Join(names, ", "));
  }
  for (const Group* group : kGroups)
    for (const Command* command : CommandsOf(*group)) out += Verb(*command);
  out += ".SH EXIT STATUS\n";
  for (const ExitCode& exit : ExitCodes()) out += Term(StrCat(exit.code), exit.what);
  out += ".SH ENVIRONMENT\n";
  out += Term("NO_COLOR", "No colour, whatever its value.");
  out += Term("COLUMNS", "Width of the output.");
  out += Term("GAPLESS_THREADS", "Threads to read and analyse with.");
  out += Term("GAPLESS_LOG", "No warnings on standard error: error or off; the same as --log.");
  out += Term("XDG_CACHE_HOME", "Where the column cache is kept, in a folder gapless.");
  out += Term("GAPLESS_CACHE_BYTES", "Most bytes of the column cache (default 4 GiB); 0: no cache.");
  out += Term("GAPLESS_MEMORY_BYTES",
              "What --memory says: bytes of recordings that are kept in memory (default 512 MiB); further ones are "
              "kept in files without a "
              "name, which are gone with the program.");
  out += Term("TMPDIR", "Where these files are, and what comes through a pipe while it is read (default /var/tmp).");
  out += ".SH EXAMPLES\n";
  for (const Command* command : AllCommands()) {
    for (const Example& example : command->examples) {
      out += StrCat(".PP\n", Roff(example.what), ":\n.PP\n.nf\n.RS\n", Roff(example.line), "\n.RE\n.fi\n");
    }
  }
  return out;
}

}  // namespace gapless::internal
