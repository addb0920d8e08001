// SPDX-License-Identifier: Apache-2.0
// SQL table memory_block: blocks of device memory with their lifetimes, from memory snapshots.
#include "query/cells.h"

namespace gapless::internal::memory_block_sqltable {

SQL_TABLE(memory_block) = kStored<&Trace::memory_blocks>;

}  // namespace gapless::internal::memory_block_sqltable
