// SPDX-License-Identifier: Apache-2.0
// The program's main function: finds the command, parses its words, runs it, reports an error, and returns the exit
// status. Errors that arrive as exceptions (no memory, internal faults) are reported here too.
//
// The exit status is the command's own answer (0, or 1 for "no"), else that of the error's code (failure.h), else 128
// plus the signal that stopped the program. A command that passes on the status of the user's command reports its own
// failures as `own_failure` instead, so that the two cannot be confused. The sentence goes to standard error; with a
// bare --json the error is also a document on standard output, so that a script always finds JSON there.
#include "cli/app.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>

#include "base/json_writer.h"
#include "base/redact.h"
#include "base/stop_signal.h"
#include "base/strings.h"
#include "base/temporaries.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/failure.h"
#include "cli/meant.h"
#include "cli/output.h"
#include "cli/stop_guard.h"
#include "cli/usage.h"
#include "ingest/redaction.h"

namespace gapless::internal {
namespace {

// Prints to standard output and returns the status: a full disk or a closed pipe is a failure, not a success.
int PrintAndExit(const std::string& text) {
  auto output = Output::Open("");
  output->Write(text);
  return output->Commit() ? 0 : ExitStatus(ErrorCode::kEnvironment);
}

// Reports an error in the formats that were asked for, and returns the exit status.
int ReportError(const Error& error, bool as_json, int own_failure = 0) {
  const bool stopped = error.code == ErrorCode::kInterrupted;
  const int by_code = own_failure != 0 ? own_failure : ExitStatus(error.code);
  const int status = stopped && StopSignal() != 0 ? 128 + StopSignal() : by_code;
  std::fputs(DescribeError(error).c_str(), stderr);
  if (as_json) PrintAndExit(ErrorAsJson(error, status));
  return status;
}

// Returns true if a bare --json is among the words before `--`. It is checked before parsing, so that parsing errors
// are JSON, too.
bool WantsJson(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "--") return false;
    if (word == "--json" || word == "--json=-") return true;
  }
  return false;
}

// Scripts compare the schema's number, not the version, to know which members a document has.
std::string VersionText(bool as_json) {
  if (!as_json) return StrCat("gapless ", kVersion, " (JSON schema ", kJsonSchema, ")\n");
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  WriteJsonHeader(json);
  json.EndObject();
  return out + "\n";
}

// Honours --log: warnings look at the variable, which the programs that a verb starts inherit.
void ObeyLog(const Arguments& arguments, Session& session) {
  if (!arguments.log) return;
  ::setenv("GAPLESS_LOG", std::string(OneOf<kLogLevels>::NameOf(*arguments.log)).c_str(), 1);
  session.shows_progress = *arguments.log == LogLevel::kWarning;
  session.stderr_is_tty = session.stderr_is_tty && session.shows_progress;
}

// Runs one command. A command that only reads is ended by the guard if it does not end itself soon after a signal.
int RunVerb(const Command& command, std::span<const std::string> words, bool as_json) {
  Session session{.terminal = DetectTerminal(),
                  .stderr_is_tty = isatty(STDERR_FILENO) == 1,
                  .cancel = CatchSignals(),
                  .redaction = std::make_shared<Redaction>()};
  const auto arguments = ParseArguments(command, words);
  if (!arguments) return ReportError(arguments.error(), as_json, command.own_failure);
  if ((*arguments)->help) return PrintAndExit(HelpOf(command, session.terminal.width));
  ObeyLog(**arguments, session);
  std::optional<StopGuard> guard;
  // The guard prints the same error as the command would, and nothing else may print after it.
  if (command.only_reads)
    guard.emplace(
        [&](StopGuard::Why why) {
          const Error late{ErrorCode::kEnvironment, "not ready when the time of --timeout was up", "",
                           "give it more time, or read less: --rank"};
          const Error stopped{ErrorCode::kInterrupted, "interrupted", "", ""};
          return ReportError(why == StopGuard::Why::kTime ? late : stopped, as_json, command.own_failure);
        },
        (*arguments)->timeout);
  // Before the command runs: from here on redaction follows the user's wish.
  KeepCommands((*arguments)->keep_command);
  const auto status = command.call.run(**arguments, session);
  guard.reset();
  if (!status) return ReportError(status.error(), as_json, command.own_failure);
  // A verb that measures prints what it has so far when it is told to stop.
  const bool is_measured = command.own_failure == 0 && !command.only_reads && !command.ends_by_signal;
  return is_measured && StopSignal() != 0 ? 128 + StopSignal() : *status;
}

// Without any word the overview goes to standard error with the status of a usage error: nothing was asked for.
int Dispatch(const std::vector<std::string>& words) {
  const bool as_json = WantsJson(words);
  const int width = DetectTerminal().width;
  if (words.empty()) {
    std::fputs(Overview(width).c_str(), stderr);
    return ExitStatus(ErrorCode::kUsage);
  }
  const std::string& verb = words[0];
  if (verb == "--version" || verb == "-V") return PrintAndExit(VersionText(as_json));
  if (verb == "--help" || verb == "-h") return PrintAndExit(Overview(width));
  const Command* command = FindCommand(verb);
  const auto own = std::span(words.begin(), std::ranges::find(words, "--"));
  if (command != nullptr && std::ranges::find(own, "--version") != own.end()) return PrintAndExit(VersionText(as_json));
  if (command == nullptr) return ReportError(UnknownVerb(words), as_json);
  return RunVerb(*command, std::span(words).subspan(1), as_json);
}

// Reports a lack of memory. What the command held is free again, but maybe not much, so that a report that needs memory
// may fail, too: then the sentence alone is written.
int ReportNoMemory(int argc, char** argv) {
  constexpr std::string_view kHint =
      "close other programs, raise the limit (ulimit -v) or read fewer ranks with --rank";
  try {
    RemoveTemporaries();
    return ReportError({ErrorCode::kEnvironment, "out of memory", "", std::string(kHint)},
                       WantsJson({argv + std::min(argc, 1), argv + argc}));
  } catch (const std::exception&) {
    std::fputs("gapless: out of memory\n", stderr);
    return ExitStatus(ErrorCode::kEnvironment);
  }
}

}  // namespace

// The rooms return errors; what still arrives as an exception is the machine's (no memory) or a fault of ours.
int RunProgram(int argc, char** argv) {
  try {
    CatchSignals();
    return Dispatch({argv + std::min(argc, 1), argv + argc});
  } catch (const std::bad_alloc&) {
    return ReportNoMemory(argc, argv);
  } catch (const std::exception& error) {
    return ReportError({ErrorCode::kEnvironment, StrCat("internal fault: ", error.what()), "", ""}, false);
  }
}

}  // namespace gapless::internal
