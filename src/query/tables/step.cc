// SPDX-License-Identifier: Apache-2.0
// SQL table step: training steps, or whatever the run repeats, with their times on the host and on the GPU. GPU times
// are those of the operations that the step launched, so they may end after the next step has begun.
#include "query/cells.h"

namespace gapless::internal::step_sqltable {

SQL_TABLE(step) = kStored<&Trace::steps>;

}  // namespace gapless::internal::step_sqltable
