// SPDX-License-Identifier: Apache-2.0
// SQL table memory_block. No reader fills it yet; the table is there so that its columns are fixed.
#include "query/cells.h"

namespace gapless::internal::memory_block_sqltable {
namespace {

constexpr SqlColumn kColumns[] = {
    kTraceKey,
    kRankKey,
    SqlColumnOf<int64_t>("device", "", "device"),
    SqlColumnOf<int64_t>("address", "", "start of the block"),
    SqlColumnOf<int64_t>("bytes", "bytes", "size"),
    SqlColumnOf<int64_t>("alloc_ts_ns", "ns", "when it was allocated"),
    SqlColumnOf<int64_t>("free_ts_ns", "ns", "when it was freed"),
    SqlColumnOf<std::string_view>("state", "", "state in the snapshot"),
    SqlColumnOf<int64_t>("stack_id", "id:stack", "where it was allocated"),
    SqlColumnOf<std::string_view>("category", "", "what it holds"),
};

}  // namespace

SQL_TABLE(memory_block) = {.name = "memory_block",
                           .help = "Blocks of device memory with their lifetimes, from memory snapshots",
                           .columns = kColumns,
                           .rows = NoRows};

}  // namespace gapless::internal::memory_block_sqltable
