// SPDX-License-Identifier: Apache-2.0
// Checks the texts of an edit before they are put into a file.
#pragma once

#include "base/result.h"
#include "optimize/change.h"

namespace gapless::internal {

// Edits come from the process that trained, so nothing in them is trusted. Returns an error unless lines, imports and
// values are single lines, keywords are names, and imports are imports.
Result<void> CheckTexts(const Edit& edit);

}  // namespace gapless::internal
