// SPDX-License-Identifier: Apache-2.0
// SQL table read_stats: what a reader noticed, a row per kind with its count and first place. Rows of severity loss or
// error say what the other tables lack.
#include "query/cells.h"

namespace gapless::internal {
namespace {

constexpr auto kTable = &Trace::read_stats;
constexpr auto kInt = ColumnType::kInt;
constexpr auto kText = ColumnType::kText;
constexpr SqlColumn kColumns[] = {
    kTraceKey,
    kRankKey,
    {"kind", kText, "", "short name", Cell<kTable, &ReadStatsTable::kind>},
    {"severity", kText, "", "info, loss or error", Cell<kTable, &ReadStatsTable::severity>},
    {"count", kInt, "", "how many", Cell<kTable, &ReadStatsTable::count>},
    {"first_offset", kInt, "bytes", "where the first one is in the (decompressed) input",
     Cell<kTable, &ReadStatsTable::first_offset>},
    {"text", kText, "", "one sentence", Cell<kTable, &ReadStatsTable::text>},
};

}  // namespace

SQL_TABLE(read_stats) = {.name = "read_stats",
                         .help = "What reading met that was odd, lost or wrong",
                         .columns = kColumns,
                         .rows = RowsOf<kTable>};

}  // namespace gapless::internal
