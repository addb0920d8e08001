// SPDX-License-Identifier: Apache-2.0
// SQL table thread: host threads with their names. Slices refer to them by row; SQL joins by trace, pid and tid.
#include "query/cells.h"

namespace gapless::internal {
namespace {

constexpr auto kTable = &Trace::threads;
constexpr auto kInt = ColumnType::kInt;
constexpr auto kText = ColumnType::kText;
constexpr SqlColumn kColumns[] = {
    kTraceKey,
    kRankKey,
    {"pid", kInt, "", "process", Cell<kTable, &ThreadTable::pid>},
    {"tid", kInt, "", "thread; negative when the recorder gave a text, which is then the name",
     Cell<kTable, &ThreadTable::tid>},
    {"name", kText, "", "name of the thread", Cell<kTable, &ThreadTable::name>},
    {"process_name", kText, "", "name of the process", Cell<kTable, &ThreadTable::process_name>},
};

}  // namespace

SQL_TABLE(thread) = {.name = "thread", .help = "Host threads", .columns = kColumns, .rows = RowsOf<kTable>};

}  // namespace gapless::internal
