// SPDX-License-Identifier: Apache-2.0
// SQL table kernel_metric: one row per kernel launch and metric, from a kernel profiler. No reader fills gpu_op_id yet.
#include "query/cells.h"

namespace gapless::internal {
namespace {

constexpr auto kTable = &Trace::kernel_metrics;
constexpr auto kInt = ColumnType::kInt;
constexpr auto kReal = ColumnType::kReal;
constexpr auto kText = ColumnType::kText;
constexpr SqlColumn kColumns[] = {
    kTraceKey,
    {"gpu_op_id", kInt, "id:gpu_op", "the kernel in the timeline", NoCell},
    {"kernel_name", kText, "", "kernel", Cell<kTable, &KernelMetricTable::kernel_name>},
    {"launch_index", kInt, "", "ordinal of the launch", Cell<kTable, &KernelMetricTable::launch_index>},
    {"metric", kText, "", "name of the metric", Cell<kTable, &KernelMetricTable::metric>},
    {"value", kReal, "", "value, when it is a number", Cell<kTable, &KernelMetricTable::value>},
    {"text", kText, "", "value, when it is a text", Cell<kTable, &KernelMetricTable::text>},
    {"unit", kText, "", "of the value", Cell<kTable, &KernelMetricTable::unit>},
};

}  // namespace

SQL_TABLE(kernel_metric) = {.name = "kernel_metric",
                            .help = "Metrics of single kernels, as measured by a kernel profiler",
                            .columns = kColumns,
                            .rows = RowsOf<kTable>};

}  // namespace gapless::internal
