// SPDX-License-Identifier: Apache-2.0
// SQL table environment: the settings and versions that a recorder wrote down, as texts.
#include "query/cells.h"

namespace gapless::internal {
namespace {

constexpr auto kTable = &Trace::environment;
constexpr auto kText = ColumnType::kText;
constexpr SqlColumn kColumns[] = {
    kTraceKey,
    {"key", kText, "", "name of the setting", Cell<kTable, &EnvironmentTable::key>},
    {"value", kText, "", "its value", Cell<kTable, &EnvironmentTable::value>},
};

}  // namespace

SQL_TABLE(environment) = {.name = "environment",
                          .help = "What the recorder said about the process: versions, settings, host",
                          .columns = kColumns,
                          .rows = RowsOf<kTable>};

}  // namespace gapless::internal
