// SPDX-License-Identifier: Apache-2.0
// SQL table stack. No reader fills it yet; the table is there so that its columns are fixed.
#include "query/cells.h"

namespace gapless::internal {
namespace {

constexpr auto kInt = ColumnType::kInt;
constexpr auto kText = ColumnType::kText;
constexpr SqlColumn kColumns[] = {
    {"id", kInt, "", "key", NoCell},
    {"parent_id", kInt, "id:stack", "the calling frame", NoCell},
    {"file", kText, "", "source file", NoCell},
    {"line", kInt, "", "line in the file", NoCell},
    {"function", kText, "", "name of the function", NoCell},
};

}  // namespace

SQL_TABLE(stack) = {.name = "stack", .help = "Call stacks, as a tree of frames", .columns = kColumns, .rows = NoRows};

}  // namespace gapless::internal
