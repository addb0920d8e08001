// SPDX-License-Identifier: Apache-2.0
// SQL table thread: host threads with their names. Slices refer to them by row; SQL joins by trace, pid and tid.
#include "query/cells.h"

namespace gapless::internal::thread_sqltable {

SQL_TABLE(thread) = kStored<&Trace::threads>;

}  // namespace gapless::internal::thread_sqltable
