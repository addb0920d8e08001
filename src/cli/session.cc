// SPDX-License-Identifier: Apache-2.0
// Detects the terminal's properties and catches the signals that ask the program to stop.
//
// The handler only notes the signal (base/stop_signal.h); loops look at the flag. It is installed with
// SA_RESETHAND, so the same signal sent again ends a program that does not react. SIGPIPE is ignored, so that writing
// to a pipe whose reader has gone is an error to handle, not the end of the program.
#include "cli/session.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>

#include "base/stop_signal.h"
#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr int kNarrowestTerminal = 40;
constexpr int kWidestTerminal = 400;

// SIGINT and SIGTERM are caught even where they are ignored, as a shell has its background jobs ignore SIGINT. The
// other two are then meant to be ignored, as by `nohup`.
constexpr bool IsAlwaysCaught(int signal) { return signal == SIGINT || signal == SIGTERM; }

std::string_view EnvironmentValue(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// COLUMNS comes first, then the terminal's own answer, then 80 columns.
int WidthOfTerminal(bool is_tty) {
  const std::string_view columns = EnvironmentValue("COLUMNS");
  int width = 0;
  std::from_chars(columns.data(), columns.data() + columns.size(), width);
  winsize size{};
  if (width <= 0 && is_tty && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) width = size.ws_col;
  return width <= 0 ? 80 : std::clamp(width, kNarrowestTerminal, kWidestTerminal);
}

// Looks at the first of the variables that is set, in the order of POSIX.
bool LocaleIsUtf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = EnvironmentValue(name);
    if (!value.empty()) return ContainsIgnoreCase(value, "utf-8") || ContainsIgnoreCase(value, "utf8");
  }
  return false;
}

}  // namespace

Terminal DetectTerminal() {
  Terminal terminal;
  terminal.is_tty = isatty(STDOUT_FILENO) == 1;
  terminal.width = WidthOfTerminal(terminal.is_tty);
  terminal.utf8 = LocaleIsUtf8();
  terminal.colour = terminal.is_tty && EnvironmentValue("NO_COLOR").empty() && EnvironmentValue("TERM") != "dumb";
  return terminal;
}

// May be called again: the flag and the handlers are the same.
const std::atomic<bool>* CatchSignals() {
  struct sigaction action {};
  action.sa_handler = NoteStopSignal;
  // The same signal sent again has its default action: it ends the program.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : kStopSignals)
    if (IsAlwaysCaught(signal) || !IsIgnored(signal)) sigaction(signal, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that reaches its limit (ulimit -f) is an error of the write
  return StopFlag();
}

}  // namespace gapless::internal
