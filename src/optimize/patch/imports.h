// SPDX-License-Identifier: Apache-2.0
// The imports of a Python file: what they are called there, and where another one goes.
#pragma once

#include <functional>
#include <set>
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
using Bindings = std::vector<Binding>;

// Returns the bindings of a line such as "from a import b, c as d"; empty if the line is not exactly one import.
Bindings BindingsOf(std::string_view line);

// Returns the other names under which `from … import name as other` makes it known.
std::set<std::string, std::less<>> AliasesOf(const PythonSource& source, std::string_view name);

// Returns the offset for lines that follow the imports at the top of the file, at most `limit`, the beginning of a line
// of statements: after the last import that only a few plain statements precede; without imports after TopOf().
size_t BehindImports(const PythonSource& source, size_t limit);

// Returns the offset after the file's own imports of everything in `wanted`, before `limit`; 0 if the file does not
// import it, or only where that may not run.
size_t ImportedBehind(const PythonSource& source, const Bindings& wanted, size_t limit);

// Returns the line of the file that undoes one of the bindings by `del`, before `limit`; 0: none does.
int DeletedAt(const PythonSource& source, const Bindings& wanted, size_t limit);

// Returns the offset behind the last `from __future__ import`; 0 without one.
size_t BehindFuture(const PythonSource& source);

// Returns the offset before which no import may stand: behind the docstring and `from __future__ import`.
size_t TopOf(const PythonSource& source);

}  // namespace gapless::internal
