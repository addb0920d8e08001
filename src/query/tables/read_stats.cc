// SPDX-License-Identifier: Apache-2.0
// SQL table read_stats: what a reader noticed, a row per kind with its count and first place. Rows of severity loss or
// error say what the other tables lack.
#include "query/cells.h"

namespace gapless::internal::read_stats_sqltable {

SQL_TABLE(read_stats) = kStored<&Trace::read_stats>;

}  // namespace gapless::internal::read_stats_sqltable
