// SPDX-License-Identifier: Apache-2.0
// One call in a Python file, and its arguments.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "optimize/patch/python_source.h"

namespace gapless::internal {

struct Argument {
  size_t begin = 0, end = 0;  // without white space and comments around it
  std::string_view name{};    // name in `name=value`
  size_t value_begin = 0;     // behind `name=`, `*`, `**`
  int stars = 0;
  bool generator = false;  // `x for x in y` without brackets of its own
  bool loose = false;      // `a or b`, `lambda: 1` …: the value needs brackets behind `**` in a mapping
};

struct CallSite {
  size_t name_begin = 0, open = 0, close = 0;  // offsets of the called name's last part and of the brackets
  std::vector<Argument> arguments{};
  std::optional<size_t> last_comma{};  // the one behind the last argument
};

// Finds the call of `name` at a line of the file: `name(`, `a.b.name(`, or a name that an import binds. Returns an
// error with the reason if no call or more than one call matches.
Result<CallSite> FindCall(const PythonSource& source, std::string_view name, int line);

// Returns the call whose name begins at this byte; nothing: no call's name does.
std::optional<CallSite> CallAt(const PythonSource& source, size_t name_begin);

// Returns the first parameters of well-known callables, in order: a positional argument may set what a keyword would
// set.
std::vector<std::string_view> PositionalNames(std::string_view call);

}  // namespace gapless::internal
