// SPDX-License-Identifier: Apache-2.0
// SQL table kernel_line.
#include "query/cells.h"

namespace gapless::internal::kernel_line_sqltable {

SQL_TABLE(kernel_line) = kStored<&Trace::kernel_lines>;

}  // namespace gapless::internal::kernel_line_sqltable
