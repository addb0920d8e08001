// SPDX-License-Identifier: Apache-2.0
// SQL table stack: call stacks, as a tree of frames.
#include "query/cells.h"

namespace gapless::internal::stack_sqltable {

SQL_TABLE(stack) = kStored<&Trace::stacks, &IdBase::stack>;

}  // namespace gapless::internal::stack_sqltable
