// SPDX-License-Identifier: Apache-2.0
#include "query/cells.h"

namespace gapless::internal {
namespace {

constexpr auto kInt = ColumnType::kInt;
constexpr auto kReal = ColumnType::kReal;
constexpr auto kText = ColumnType::kText;
constexpr SqlColumn kColumns[] = {
    kTraceKey,
    {"gpu_op_id", kInt, "id:gpu_op", "the kernel in the timeline", NoCell},
    {"kernel_name", kText, "", "kernel", NoCell},
    {"launch_index", kInt, "", "ordinal of the launch", NoCell},
    {"metric", kText, "", "name of the metric", NoCell},
    {"value", kReal, "", "value, when it is a number", NoCell},
    {"text", kText, "", "value, when it is a text", NoCell},
    {"unit", kText, "", "of the value", NoCell},
};

}  // namespace

SQL_TABLE(kernel_metric) = {.name = "kernel_metric",
                            .help = "Metrics of single kernels, as measured by a kernel profiler",
                            .columns = kColumns,
                            .rows = NoRows};

}  // namespace gapless::internal
