// SPDX-License-Identifier: Apache-2.0
// SQL table host_function: functions and lines of the host program as a host profiler measured them, without a
// timeline.
#include "query/cells.h"

namespace gapless::internal {
namespace {

constexpr auto kTable = &Trace::host_functions;
constexpr auto kInt = ColumnType::kInt;
constexpr auto kText = ColumnType::kText;
constexpr SqlColumn kColumns[] = {
    kTraceKey,
    {"file", kText, "", "source file", Cell<kTable, &HostFunctionTable::file>},
    {"line", kInt, "", "line in the file", Cell<kTable, &HostFunctionTable::line>},
    {"function", kText, "", "name of the function; NULL: the row is about one line",
     Cell<kTable, &HostFunctionTable::function>},
    {"calls", kInt, "", "calls; of a line, how often it ran", Cell<kTable, &HostFunctionTable::calls>},
    {"self_ns", kInt, "ns", "time in the function itself", Cell<kTable, &HostFunctionTable::self_ns>},
    {"total_ns", kInt, "ns", "time in the function and what it calls", Cell<kTable, &HostFunctionTable::total_ns>},
    {"bytes", kInt, "bytes", "allocated there and alive at the end", Cell<kTable, &HostFunctionTable::bytes>},
};

}  // namespace

SQL_TABLE(host_function) = {.name = "host_function",
                            .help = "Functions of the host program, as measured by a host profiler",
                            .columns = kColumns,
                            .rows = RowsOf<kTable>};

}  // namespace gapless::internal
