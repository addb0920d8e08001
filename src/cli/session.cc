// SPDX-License-Identifier: Apache-2.0
// Detects the terminal's properties and catches SIGINT and SIGTERM.
//
// The handler only sets two atomics, which is safe in a handler; loops look at the flag. It is installed with
// SA_RESETHAND, so the same signal sent again ends a program that does not react. SIGPIPE is ignored, so that writing
// to a pipe whose reader has gone is an error to handle, not the end of the program.
#include "cli/session.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr int kNarrowestTerminal = 40;
constexpr int kWidestTerminal = 400;

std::atomic<bool> cancel_flag{false};
std::atomic<int> caught_signal{0};

// The number is stored first: whoever sees the flag may ask for it.
void OnSignal(int signal) {
  caught_signal.store(signal);
  cancel_flag.store(true);
}

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
  action.sa_handler = OnSignal;
  // The same signal sent again has its default action: it ends the program.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that reaches its limit (ulimit -f) is an error of the write
  return &cancel_flag;
}

int CaughtSignal() { return caught_signal.load(); }

}  // namespace gapless::internal
