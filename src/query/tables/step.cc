// SPDX-License-Identifier: Apache-2.0
// SQL table step: training steps, or whatever the run repeats, with their times on the host and on the GPU. GPU times
// are those of the operations that the step launched, so they may end after the next step has begun.
#include "query/cells.h"

namespace gapless::internal {
namespace {

constexpr auto kTable = &Trace::steps;
constexpr auto kInt = ColumnType::kInt;
constexpr auto kReal = ColumnType::kReal;
constexpr auto kText = ColumnType::kText;
constexpr SqlColumn kColumns[] = {
    kTraceKey,
    kRankKey,
    {"step", kInt, "", "number in the annotation, else the ordinal", Cell<kTable, &StepTable::number>},
    {"name", kText, "", "as annotated", Cell<kTable, &StepTable::name>},
    {"ts_ns", kInt, "ns", "start on the host, in run time", TimeCell<kTable, &StepTable::ts_ns>},
    {"dur_ns", kInt, "ns", "duration on the host", Cell<kTable, &StepTable::dur_ns>},
    {"gpu_start_ns", kInt, "ns", "start of the first work the step launched",
     TimeCell<kTable, &StepTable::gpu_start_ns>},
    {"gpu_end_ns", kInt, "ns", "end of the last work the step launched", TimeCell<kTable, &StepTable::gpu_end_ns>},
    {"complete", kInt, "", "0: cut off by the recording", Cell<kTable, &StepTable::complete>},
    {"source", kText, "", "profiler, annotation, agent or inferred", Cell<kTable, &StepTable::source>},
    {"samples", kInt, "", "samples trained on", Cell<kTable, &StepTable::samples>},
    {"tokens", kInt, "", "tokens trained on", NoCell},
    {"loss", kReal, "", "loss reported", Cell<kTable, &StepTable::loss>},
    {"wait_ns", kInt, "ns", "spent waiting for batches, as the agent saw it", Cell<kTable, &StepTable::wait_ns>},
};

}  // namespace

SQL_TABLE(step) = {.name = "step",
                   .help = "Training steps, or whatever the run repeats",
                   .columns = kColumns,
                   .rows = RowsOf<kTable>,
                   .ts = TimesOf<kTable, &StepTable::ts_ns>};

}  // namespace gapless::internal
