// SPDX-License-Identifier: Apache-2.0
// SQL table memory_block. No reader fills it yet; the table is there so that its columns are fixed.
#include "query/cells.h"

namespace gapless::internal {
namespace {

constexpr auto kInt = ColumnType::kInt;
constexpr auto kText = ColumnType::kText;
constexpr SqlColumn kColumns[] = {
    kTraceKey,
    kRankKey,
    {"device", kInt, "", "device", NoCell},
    {"address", kInt, "", "start of the block", NoCell},
    {"bytes", kInt, "bytes", "size", NoCell},
    {"alloc_ts_ns", kInt, "ns", "when it was allocated", NoCell},
    {"free_ts_ns", kInt, "ns", "when it was freed", NoCell},
    {"state", kText, "", "state in the snapshot", NoCell},
    {"stack_id", kInt, "id:stack", "where it was allocated", NoCell},
    {"category", kText, "", "what it holds", NoCell},
};

}  // namespace

SQL_TABLE(memory_block) = {.name = "memory_block",
                           .help = "Blocks of device memory with their lifetimes, from memory snapshots",
                           .columns = kColumns,
                           .rows = NoRows};

}  // namespace gapless::internal
