// SPDX-License-Identifier: Apache-2.0
#include "query/cells.h"

namespace gapless::internal {
namespace {

constexpr auto kInt = ColumnType::kInt;
constexpr auto kText = ColumnType::kText;
constexpr SqlColumn kColumns[] = {
    kTraceKey,
    {"file", kText, "", "source file", NoCell},
    {"line", kInt, "", "line in the file", NoCell},
    {"function", kText, "", "name of the function", NoCell},
    {"calls", kInt, "", "calls", NoCell},
    {"self_ns", kInt, "ns", "time in the function itself", NoCell},
    {"total_ns", kInt, "ns", "time in the function and what it calls", NoCell},
};

}  // namespace

SQL_TABLE(host_function) = {.name = "host_function",
                            .help = "Functions of the host program, as measured by a host profiler",
                            .columns = kColumns,
                            .rows = NoRows};

}  // namespace gapless::internal
