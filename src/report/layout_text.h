// SPDX-License-Identifier: Apache-2.0
// The layout of a job in one line.
#pragma once

#include <string>

#include "analyses/analysis.h"

namespace gapless::internal {

// "layout 8 data × 4 pipeline × 8 tensor (named by the program)"; "" of fewer than two dimensions: there is nothing to
// tell apart.
std::string LayoutText(Tables& tables);

}  // namespace gapless::internal
