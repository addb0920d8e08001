// SPDX-License-Identifier: Apache-2.0
// SQL table stack. No reader fills it yet; the table is there so that its columns are fixed.
#include "query/cells.h"

namespace gapless::internal::stack_sqltable {
namespace {

constexpr SqlColumn kColumns[] = {
    SqlColumnOf<int64_t>("id", "", "key"),
    SqlColumnOf<int64_t>("parent_id", "id:stack", "the calling frame"),
    SqlColumnOf<std::string_view>("file", "", "source file"),
    SqlColumnOf<int64_t>("line", "", "line in the file"),
    SqlColumnOf<std::string_view>("function", "", "name of the function"),
};

}  // namespace

SQL_TABLE(stack) = {.name = "stack", .help = "Call stacks, as a tree of frames", .columns = kColumns, .rows = NoRows};

}  // namespace gapless::internal::stack_sqltable
