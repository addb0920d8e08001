// SPDX-License-Identifier: Apache-2.0
// SQL table host_function: functions and lines of the host program as a host profiler measured them, without a
// timeline.
#include "query/cells.h"

namespace gapless::internal::host_function_sqltable {

SQL_TABLE(host_function) = kStored<&Trace::host_functions>;

}  // namespace gapless::internal::host_function_sqltable
