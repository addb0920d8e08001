// SPDX-License-Identifier: Apache-2.0
// SQL table counter: values that change over time, such as memory, power or utilisation. Sorted by time within a trace.
#include "query/cells.h"

namespace gapless::internal {
namespace {

constexpr auto kTable = &Trace::counters;
constexpr auto kInt = ColumnType::kInt;
constexpr auto kReal = ColumnType::kReal;
constexpr auto kText = ColumnType::kText;
constexpr SqlColumn kColumns[] = {
    kTraceKey,
    kRankKey,
    {"name", kText, "", "what was counted", Cell<kTable, &CounterTable::name>},
    {"device", kInt, "", "device; NULL: none", Cell<kTable, &CounterTable::device>},
    {"ts_ns", kInt, "ns", "time, in run time", TimeCell<kTable, &CounterTable::ts_ns>},
    {"value", kReal, "", "the value", Cell<kTable, &CounterTable::value>},
    {"unit", kText, "", "of the value", Cell<kTable, &CounterTable::unit>},
};

}  // namespace

SQL_TABLE(counter) = {.name = "counter",
                      .help = "Values over time",
                      .columns = kColumns,
                      .rows = RowsOf<kTable>,
                      .ts = TimesOf<kTable, &CounterTable::ts_ns>};

}  // namespace gapless::internal
