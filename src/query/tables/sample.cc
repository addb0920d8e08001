// SPDX-License-Identifier: Apache-2.0
// SQL table sample. No reader fills it yet; the table is there so that its columns are fixed.
#include "query/cells.h"

namespace gapless::internal {
namespace {

constexpr auto kInt = ColumnType::kInt;
constexpr SqlColumn kColumns[] = {
    kTraceKey,
    kRankKey,
    {"ts_ns", kInt, "ns", "time, in run time", NoCell},
    {"tid", kInt, "", "thread", NoCell},
    {"stack_id", kInt, "id:stack", "where the thread was", NoCell},
    {"weight_ns", kInt, "ns", "time the sample stands for", NoCell},
};

}  // namespace

SQL_TABLE(sample) = {.name = "sample", .help = "Samples of host call stacks", .columns = kColumns, .rows = NoRows};

}  // namespace gapless::internal
