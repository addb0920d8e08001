// SPDX-License-Identifier: Apache-2.0
// SQL table gpu_annotation: the user's ranges as the recorder projected them onto streams. They overlap the operations
// that they name, so their times must not be added to those of gpu_op.
#include "query/cells.h"

namespace gapless::internal {
namespace {

constexpr auto kTable = &Trace::gpu_annotations;
constexpr auto kInt = ColumnType::kInt;
constexpr auto kText = ColumnType::kText;
constexpr SqlColumn kColumns[] = {
    {"id", kInt, "", "unique over the run, the same each time it is opened", IdCell<&IdBase::gpu_annotation>},
    kTraceKey,
    kRankKey,
    {"name", kText, "", "name of the range", Cell<kTable, &GpuAnnotationTable::name>},
    {"device", kInt, "", "device", Cell<kTable, &GpuAnnotationTable::device>},
    {"stream", kInt, "", "stream", Cell<kTable, &GpuAnnotationTable::stream>},
    {"ts_ns", kInt, "ns", "start, in run time", TimeCell<kTable, &GpuAnnotationTable::ts_ns>},
    {"dur_ns", kInt, "ns", "duration", Cell<kTable, &GpuAnnotationTable::dur_ns>},
};

}  // namespace

SQL_TABLE(gpu_annotation) = {.name = "gpu_annotation",
                             .help = "User ranges projected onto a stream by the recorder",
                             .columns = kColumns,
                             .rows = RowsOf<kTable>,
                             .first_id = FirstIdOf<&IdBase::gpu_annotation>,
                             .ts = TimesOf<kTable, &GpuAnnotationTable::ts_ns>};

}  // namespace gapless::internal
