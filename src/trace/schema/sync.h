// SPDX-License-Identifier: Apache-2.0
// Synchronisations: host calls that wait for the GPU, and streams that wait for events. Sorted by ts_ns. A wait that
// both the host call and the recorder's synchronisation row describe is one row.
#pragma once

#include "trace/columns.h"
#include "trace/enums.h"

namespace gapless::internal {

template <template <class> class Of>
struct SyncColumns {
  Of<SyncKind> kind = kRequired<Of>;
  Of<Derived<SliceId>> slice = kUnset;
  Of<int32_t> device = kUnset;
  Of<int64_t> stream = kUnset;
  Of<Derived<GpuOpId>> waited_gpu_op = kUnset;
  Of<int64_t> event = kUnset;
  Of<RowOnly<int64_t>> correlation = kUnset;
  // The stream that a waited-for event was recorded on, and the correlation of the call that recorded it.
  Of<RowOnly<int64_t>> event_stream = kUnset;
  Of<RowOnly<int64_t>> event_correlation = kUnset;
  Of<int64_t> ts_ns = kRequired<Of>;
  Of<int64_t> dur_ns = kRequired<Of>;
  Of<Derived<int64_t>> wait_ns = kUnset;

  static constexpr AboutTable kAbout{
      "sync", "Synchronisations: host calls that wait for the GPU, and streams that wait for events"};
  static constexpr ColumnList kColumns{
      RowKey(),
      TraceKey(),
      RankKey(),
      ShownColumn<&SyncColumns::kind>("", "device, stream, event, stream_wait or implicit"),
      ShownColumn<&SyncColumns::slice>("id:slice", "the call that waited").As("slice_id"),
      ShownColumn<&SyncColumns::device>("", "device waited for"),
      ShownColumn<&SyncColumns::stream>("", "stream waited for, or waiting"),
      ShownColumn<&SyncColumns::waited_gpu_op>(
          "id:gpu_op", "the operation whose end ended the wait; of stream_wait, the one its event was recorded after")
          .As("waited_gpu_op_id"),
      ShownColumn<&SyncColumns::event>("", "event waited for"),
      TimeColumn<&SyncColumns::ts_ns>("start, in run time"),
      ShownColumn<&SyncColumns::dur_ns>("ns", "duration"),
      ShownColumn<&SyncColumns::wait_ns>("ns", "time the host thread (stream_wait: the stream) was held up"),
      HiddenColumn<&SyncColumns::correlation>(),
      HiddenColumn<&SyncColumns::event_stream>(),
      HiddenColumn<&SyncColumns::event_correlation>(),
  };
};
using SyncRow = SyncColumns<InRow>;
using SyncTable = TableFor<SyncColumns>;

}  // namespace gapless::internal
