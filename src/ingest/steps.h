// SPDX-License-Identifier: Apache-2.0
// Finds what a run repeats, from names that frameworks give: the profiler's own step marks, else optimizer steps, else
// annotations that say "step" or "iteration", else data-loader calls.
#pragma once

#include "trace/trace.h"

namespace gapless::internal {

// Fills trace.steps when it is empty, and marks steps that the recording cut off. Needs launches linked.
void FindSteps(Trace& trace);

}  // namespace gapless::internal
