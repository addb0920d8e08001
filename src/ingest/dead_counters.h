// SPDX-License-Identifier: Apache-2.0
// Drops counters of GPUs that stand at 0 because nobody measured them: what was not measured is absent. DCGM prints 0
// for its profiling fields where it may not profile.
#pragma once

#include "trace/trace.h"

namespace gapless::internal {

// Drops the rows of each activity of a GPU that is 0 throughout while another one, or its power, shows that it works;
// with all of DCGM's activities at 0, also what else of DCGM's profiling fields is 0 throughout. Adds a note that names
// the GPU and the counters.
void DropDeadCounters(Trace& trace);

}  // namespace gapless::internal
