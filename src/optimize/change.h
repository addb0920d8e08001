// SPDX-License-Identifier: Apache-2.0
// The effect of a fix inside a process, as the agent reports it (record `fix` of docs/agent_protocol.md).
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

struct Edit {
  EditKind kind = EditKind::kNone;
  std::string file{};                                      // absolute
  int line = 0;                                            // from 1
  int last = 0;                                            // last line that kReplace replaces
  std::string call{};                                      // "DataLoader"
  std::vector<std::pair<std::string, std::string>> set{};  // arguments, or variables
  std::vector<std::string> lines{};
  std::vector<std::string> imports{};  // "import torch": lines that the edit needs at the top of the file, once each
};

enum class ChangeState : uint8_t { kOff, kOn, kRefused };

struct Change {
  std::string fix{}, value{};
  ChangeState state = ChangeState::kOn;
  std::string what{};  // a sentence: what was changed, or why not
  Edit edit{};
};

// The text of a record; `value` is the record's: 0 off, 1 on, 2 refused.
Result<Change> ParseChange(std::string_view json, int value);
// Writes a change in the agent's format, which ParseChange() reads.
std::string ToJson(const Change& change);

}  // namespace gapless::internal
