// SPDX-License-Identifier: Apache-2.0
// SQL table sync: host calls that wait for the GPU, and streams that wait for an event. dur_ns is the length of the
// call, wait_ns the part of it that was spent waiting.
#include "query/cells.h"

namespace gapless::internal {
namespace {

constexpr auto kTable = &Trace::syncs;
constexpr auto kInt = ColumnType::kInt;
constexpr auto kText = ColumnType::kText;
constexpr SqlColumn kColumns[] = {
    {"id", kInt, "", "unique over the run, the same each time it is opened", IdCell<&IdBase::sync>},
    kTraceKey,
    kRankKey,
    {"kind", kText, "", "device, stream, event, stream_wait or implicit", Cell<kTable, &SyncTable::kind>},
    {"slice_id", kInt, "id:slice", "the call that waited", Cell<kTable, &SyncTable::slice>},
    {"device", kInt, "", "device waited for", Cell<kTable, &SyncTable::device>},
    {"stream", kInt, "", "stream waited for, or waiting", Cell<kTable, &SyncTable::stream>},
    {"waited_gpu_op_id", kInt, "id:gpu_op",
     "the operation whose end ended the wait; of stream_wait, the one its event was recorded after",
     Cell<kTable, &SyncTable::waited_gpu_op>},
    {"event", kInt, "", "event waited for", Cell<kTable, &SyncTable::event>},
    {"ts_ns", kInt, "ns", "start, in run time", TimeCell<kTable, &SyncTable::ts_ns>},
    {"dur_ns", kInt, "ns", "duration", Cell<kTable, &SyncTable::dur_ns>},
    {"wait_ns", kInt, "ns", "time the host thread (stream_wait: the stream) was held up",
     Cell<kTable, &SyncTable::wait_ns>},
};

}  // namespace

SQL_TABLE(sync) = {.name = "sync",
                   .help = "Synchronisations: host calls that wait for the GPU, and streams that wait for events",
                   .columns = kColumns,
                   .rows = RowsOf<kTable>,
                   .first_id = FirstIdOf<&IdBase::sync>,
                   .ts = TimesOf<kTable, &SyncTable::ts_ns>};

}  // namespace gapless::internal
