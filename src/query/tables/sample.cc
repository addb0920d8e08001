// SPDX-License-Identifier: Apache-2.0
// SQL table sample. No reader fills it yet; the table is there so that its columns are fixed.
#include "query/cells.h"

namespace gapless::internal::sample_sqltable {
namespace {

constexpr SqlColumn kColumns[] = {
    kTraceKey,
    kRankKey,
    SqlColumnOf<int64_t>("ts_ns", "ns", "time, in run time"),
    SqlColumnOf<int64_t>("tid", "", "thread"),
    SqlColumnOf<int64_t>("stack_id", "id:stack", "where the thread was"),
    SqlColumnOf<int64_t>("weight_ns", "ns", "time the sample stands for"),
};

}  // namespace

SQL_TABLE(sample) = {.name = "sample", .help = "Samples of host call stacks", .columns = kColumns, .rows = NoRows};

}  // namespace gapless::internal::sample_sqltable
