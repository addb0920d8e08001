// SPDX-License-Identifier: Apache-2.0
// The effect of a fix inside a process, as the agent reports it (record `fix` of python/gapless/agent/README.md), and
// the same change as an edit of the user's script.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace gapless::internal {

// The same change in the user's script.
enum class EditKind : uint8_t {
  kNone,          // not expressible as an edit
  kKeywords,      // arguments of the call `call` at file:line: added, or replaced where they are given
  kBefore,        // lines in front of the statement at file:line, indented as it is
  kAfter,         // behind it
  kWith,          // the statement at file:line moves into a `with` block: lines[0] is its head
  kReplace,       // the statements from file:line to `last` become lines
  kAfterImports,  // lines behind the last import at the top of the file
  kEnvironment,   // variables of the launch command
};

std::string_view NameOf(EditKind kind);  // "keywords" …; "" of kNone

// An Edit is one change of one file, or of the launch command. Places are those of the file as the process ran it.
struct Edit {
  EditKind kind = EditKind::kNone;
  std::string file{};                                      // absolute
  int line = 0;                                            // from 1
  int last = 0;                                            // last line that kReplace replaces
  std::string call{};                                      // "DataLoader"
  std::string of{};                                        // class that takes the arguments; empty: `call` names it
  std::vector<std::pair<std::string, std::string>> set{};  // arguments, or variables
  std::vector<std::string> lines{};
  std::vector<std::string> imports{};  // "import torch": lines that the edit needs at the top of the file, once each
  std::vector<Edit> more{};  // further edits of the same file: all are made, or none is; they have none of their own
};

enum class ChangeState : uint8_t { kOff, kOn, kRefused };

struct Change {
  std::string fix{}, value{};
  ChangeState state = ChangeState::kOn;
  std::string what{};  // a sentence: what was changed, or why not
  Edit edit{};
};

// Parses the text of a record; `value` is the record's: 0 off, 1 on, 2 refused. Returns an error if the text is no
// JSON, names no fix, or the value is another one. An edit that is not understood is kNone, and no error.
Result<Change> ParseChange(std::string_view json, int value);
// Writes a change in the agent's format, which ParseChange() reads.
std::string ToJson(const Change& change);

}  // namespace gapless::internal
