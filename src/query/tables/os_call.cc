// SPDX-License-Identifier: Apache-2.0
// SQL table os_call: calls of the operating system's library; they are no slices.
#include "query/cells.h"

namespace gapless::internal::os_call_sqltable {

SQL_TABLE(os_call) = kStored<&Trace::os_calls>;

}  // namespace gapless::internal::os_call_sqltable
