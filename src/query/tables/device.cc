// SPDX-License-Identifier: Apache-2.0
// SQL table device: a row per GPU of a process. Of a GPU that no recorder described only the ordinal is known.
#include "query/cells.h"

namespace gapless::internal::device_sqltable {

SQL_TABLE(device) = kStored<&Trace::devices>;

}  // namespace gapless::internal::device_sqltable
