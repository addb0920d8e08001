// SPDX-License-Identifier: Apache-2.0
// SQL table page_fault: page faults of managed memory.
#include "query/cells.h"

namespace gapless::internal::page_fault_sqltable {

SQL_TABLE(page_fault) = kStored<&Trace::page_faults>;

}  // namespace gapless::internal::page_fault_sqltable
