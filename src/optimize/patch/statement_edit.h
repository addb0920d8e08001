// SPDX-License-Identifier: Apache-2.0
// Lines that are put before, behind or around a statement of a Python file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "optimize/change.h"
#include "optimize/patch/python_source.h"
#include "optimize/patch/splice.h"

namespace gapless::internal {

// A StatementEdit is one accepted edit of a statement.
struct StatementEdit {
  EditKind kind;
  size_t begin, end;  // byte range of the statement
  std::string_view indent;
  std::vector<std::string> lines;
  bool operator==(const StatementEdit&) const = default;
};

// Returns lines to be put at `place`, indented. Their own indentation in levels of four becomes that of the file.
std::string Render(const PythonSource& source, const std::vector<std::string>& lines, std::string_view indent,
                   size_t place);

// Adds the heads of the blocks around the statement, and moves the statement deeper: its own lines, and the texts that
// other splices put into it.
void AddWithBlock(const PythonSource& source, const StatementEdit& edit, std::vector<Splice>& splices);

}  // namespace gapless::internal
