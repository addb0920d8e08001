// SPDX-License-Identifier: Apache-2.0
// SQL table flow: arrows between two points of the timeline, as recorded. A launch is also in gpu_op.launch_id.
#include "query/cells.h"

namespace gapless::internal {
namespace {

constexpr auto kTable = &Trace::flows;
constexpr auto kInt = ColumnType::kInt;
constexpr auto kText = ColumnType::kText;
constexpr SqlColumn kColumns[] = {
    kTraceKey,
    kRankKey,
    {"kind", kText, "", "launch, fwdbwd or other", Cell<kTable, &FlowTable::kind>},
    {"from_ts_ns", kInt, "ns", "start of the arrow, in run time", TimeCell<kTable, &FlowTable::from_ts_ns>},
    {"from_tid", kInt, "", "thread, or stream on the device side", Cell<kTable, &FlowTable::from_tid>},
    {"to_ts_ns", kInt, "ns", "end of the arrow, in run time", TimeCell<kTable, &FlowTable::to_ts_ns>},
    {"to_tid", kInt, "", "thread, or stream on the device side", Cell<kTable, &FlowTable::to_tid>},
};

}  // namespace

SQL_TABLE(flow) = {.name = "flow",
                   .help = "Arrows between host slices and device work, as recorded",
                   .columns = kColumns,
                   .rows = RowsOf<kTable>};

}  // namespace gapless::internal
