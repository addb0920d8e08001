// SPDX-License-Identifier: Apache-2.0
// The imports of a Python file: what they are called there, and where another one goes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "optimize/patch/python_source.h"

namespace gapless::internal {

// A name bound by an import: `import a.b` → {"a.b", "", "a"}, `from a import b as c` → {"a", "b", "c"}.
struct Binding {
  std::string module{}, name{}, as{};
  bool operator==(const Binding&) const = default;
};
// Returns the bindings of a line such as "from a import b, c as d"; empty if the line is no import.
std::vector<Binding> BindingsOf(std::string_view statement);

// Other names under which `from … import name as other` makes it known.
std::vector<std::string> AliasesOf(const PythonSource& source, std::string_view name);

// Returns the offset for lines that follow the imports at the top of the file: after the last import that only a few
// plain statements precede; without imports after the docstring and `from __future__`.
size_t BehindImports(const PythonSource& source);

// Returns the offset after the file's own imports of everything in `statement`, at its top level and before `limit`; 0
// if the file does not import it.
size_t ImportedBehind(const PythonSource& source, std::string_view statement, size_t limit);

// Returns the offset behind the last `from __future__ import`; 0 without one.
size_t BehindFuture(const PythonSource& source);

}  // namespace gapless::internal
