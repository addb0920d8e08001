// SPDX-License-Identifier: Apache-2.0
// SQL table comm_call.
#include "query/cells.h"

namespace gapless::internal::comm_call_sqltable {

SQL_TABLE(comm_call) = kStored<&Trace::comm_calls>;

}  // namespace gapless::internal::comm_call_sqltable
