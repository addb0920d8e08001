// SPDX-License-Identifier: Apache-2.0
// The surroundings of one call: the terminal, the streams, and a flag that asks the program to stop.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

namespace gapless::internal {

class Redaction;

// The properties of standard output when the program starts.
struct Terminal {
  bool is_tty = false;
  int width = 80;       // columns; COLUMNS overrides what the terminal says, and is all there is for a pipe
  bool utf8 = false;    // by LC_ALL, LC_CTYPE, LANG
  bool colour = false;  // a TTY that is not dumb, and no NO_COLOR
};
Terminal DetectTerminal();

// The surroundings that a command gets beside its arguments.
struct Session {
  Terminal terminal;
  bool stderr_is_tty = false;  // and messages are wanted there
  bool shows_progress = true;  // shows progress of long measurements (progress.h); false: --log turns it off
  const std::atomic<bool>* cancel = nullptr;  // set by a signal that asks the program to stop
  std::shared_ptr<Redaction> redaction{};     // the names that all recordings of the call share (--redact)
};

// From now on SIGHUP, SIGINT, SIGQUIT and SIGTERM set a flag (the same one again kills), and writing to a closed pipe
// is an error that can be seen instead of a signal. SIGHUP and SIGQUIT stay ignored where they were.
const std::atomic<bool>* CatchSignals();

}  // namespace gapless::internal
