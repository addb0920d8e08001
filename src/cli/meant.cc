// SPDX-License-Identifier: Apache-2.0
// Guesses by names and by what lies in the file system; a guess is only ever printed, never run.
#include "cli/meant.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/strings.h"
#include "base/suggest.h"
#include "cli/elsewhere.h"
#include "ingest/input_paths.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLaunchers[] = {"torchrun", "accelerate", "deepspeed", "mpirun", "srun",
                                           "uv",       "poetry",     "conda",     "bash",   "sh"};
// Words of other tools for what a verb does.
constexpr std::pair<std::string_view, std::string_view> kOtherWords[] = {
    {"record", "profile"},   {"trace", "profile"}, {"train", "profile"},   {"open", "analyze"}, {"show", "analyze"},
    {"view", "analyze"},     {"read", "analyze"},  {"benchmark", "bench"}, {"sql", "query"},    {"check", "doctor"},
    {"speedup", "optimize"}, {"fix", "optimize"},  {"export", "convert"}};
constexpr int kMostEntries = 1000;  // entries of the current folder that are read

std::string LineOf(std::string_view verb, std::span<const std::string> words) {
  std::string line = StrCat("gapless ", verb);
  for (const std::string& word : words) line += StrCat(" ", ShellWord(word));
  return line;
}

bool StartsCommand(std::string_view word) {
  const std::string_view name = word.substr(word.find_last_of('/') + 1);
  return IsPythonScript(word) || word.ends_with(".sh") || name.starts_with("python") ||
         std::ranges::find(kLaunchers, name) != std::end(kLaunchers);
}

// The interpreter that a script needs in front of it; "" for programs, and for paths that may be executable.
std::string_view InterpreterOf(std::string_view word) {
  if (word.starts_with("./")) return {};
  return IsPythonScript(word) ? "python" : word.ends_with(".sh") ? "bash" : "";
}

// An option before the verb: the verb moves to the front.
std::string VerbFirst(std::span<const std::string> words) {
  for (size_t i = 1; i < words.size(); ++i) {
    if (FindCommand(words[i]) == nullptr) continue;
    std::vector<std::string> others(words.begin(), words.end());
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    return StrCat("the verb comes first: ", LineOf(words[i], others));
  }
  return "gapless --help";
}

// The line for a first word that names something to read or to run; "" for others.
std::string LineForThing(std::span<const std::string> words) {
  const std::string& first = words[0];
  if (StartsCommand(first)) return WithDashes(*FindCommand("profile"), words);
  std::error_code unknown;
  if (IsUrl(first) || fs::exists(first, unknown)) return LineOf("analyze", words);
  return {};
}

// The verb that is nearest in meaning or in letters; "" if none is near.
std::string_view NearestVerb(std::string_view word) {
  std::vector<std::string_view> names;
  for (const Command* command : AllCommands()) names.push_back(command->name);
  const std::string_view nearest = Nearest(word, names);
  const auto other = std::ranges::find(kOtherWords, word, [](const auto& pair) { return pair.first; });
  return other != std::end(kOtherWords) ? other->second : nearest;
}

}  // namespace

bool IsPythonScript(std::string_view word) { return word.ends_with(".py"); }

Error UnknownVerb(std::span<const std::string> words) {
  const std::string& first = words[0];
  Error error{ErrorCode::kUsage, StrCat("there is no verb '", first, "'"), "", "gapless --help"};
  if (first.starts_with('-')) {
    error.hint = VerbFirst(words);
  } else if (first == "version") {
    error.hint = "gapless --version";
  } else if (std::string line = LineForThing(words); !line.empty()) {
    error.hint = std::move(line);
  } else if (const std::string_view verb = NearestVerb(first); !verb.empty()) {
    error.hint = LineOf(verb, words.subspan(1));
  } else if (first.find_first_of("./") != first.npos) {
    error.message += ", and no such file";
    error.hint = "gapless analyze PATH reads a recording; gapless --help lists the verbs";
  }
  return error;
}

// A launcher and its script are one command. Verbs that take two commands have --a and --b; there the second one begins
// with the next word of this kind.
std::string WithDashes(const Command& command, std::span<const std::string> args) {
  if (!command.takes_command || std::ranges::find(args, "--") != args.end()) return {};
  const bool of_two =
      std::ranges::any_of(command.call.options, [](const OptionSpec& option) { return option.name == "a"; });
  const int most = of_two ? 2 : 1;
  std::vector<std::string> words;
  int commands = 0;
  bool lacks_script = false;  // a launcher was seen, and not its script
  for (const std::string& word : args) {
    if (StartsCommand(word) && !lacks_script && commands < most) {
      ++commands;
      words.emplace_back("--");
      if (const auto interpreter = InterpreterOf(word); !interpreter.empty()) words.emplace_back(interpreter);
      lacks_script = !IsPythonScript(word);
    } else if (IsPythonScript(word)) {
      lacks_script = false;
    }
    words.push_back(word);
  }
  if (commands == 0) return {};
  if (commands < most) return StrCat("gapless ", command.name, " -- python old.py -- python new.py");
  return LineOf(command.name, words);
}

std::string LineWithPath(const Command& command) {
  std::error_code error;
  fs::path newest;
  fs::file_time_type newest_time;
  int seen = 0;
  for (fs::directory_iterator at(".", error), end; !error && at != end && ++seen <= kMostEntries; at.increment(error)) {
    std::error_code unknown;
    if (!at->is_directory(unknown) || !IsRunFolder(at->path().string())) continue;
    const auto time = at->last_write_time(unknown);
    if (newest.empty() || time > newest_time) newest = at->path().filename(), newest_time = time;
  }
  if (!newest.empty()) return StrCat("gapless ", command.name, " ", ShellWord(newest.string()));
  return command.examples.empty() ? "" : std::string(command.examples.front().line);
}

}  // namespace gapless::internal
