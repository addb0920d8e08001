// SPDX-License-Identifier: Apache-2.0
// SQL table counter: values that change over time, such as memory, power or utilisation. Sorted by time within a trace.
#include "query/cells.h"

namespace gapless::internal::counter_sqltable {

SQL_TABLE(counter) = kStored<&Trace::counters>;

}  // namespace gapless::internal::counter_sqltable
