// SPDX-License-Identifier: Apache-2.0
// Checks the texts of an edit before they are put into a file.
#pragma once

#include "base/result.h"
#include "optimize/change.h"
#include "optimize/patch/python_source.h"

namespace gapless::internal {

// Edits come from the process that trained, so nothing in them is trusted. Returns an error unless lines, imports and
// values are single lines that the file's encoding can hold, keywords are names, values are expressions, imports are
// imports, and the lines are statements, or the head of a block around one.
Result<void> CheckTexts(const Edit& edit, const PythonSource& source);

}  // namespace gapless::internal
