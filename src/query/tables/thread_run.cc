// SPDX-License-Identifier: Apache-2.0
// SQL table thread_run: times in which a thread was on a processor.
#include "query/cells.h"

namespace gapless::internal::thread_run_sqltable {

SQL_TABLE(thread_run) = kStored<&Trace::thread_runs>;

}  // namespace gapless::internal::thread_run_sqltable
