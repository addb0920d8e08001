// SPDX-License-Identifier: Apache-2.0
// User ranges projected onto a stream by the recorder. Sorted by ts_ns.
#pragma once

#include "trace/columns.h"
#include "trace/enums.h"

namespace gapless::internal {

template <template <class> class Of>
struct GpuAnnotationColumns {
  Of<StringId> name = kRequired<Of>;
  Of<int32_t> device = BeginsAs{0};
  Of<int64_t> stream = BeginsAs{0};
  Of<int64_t> ts_ns = kRequired<Of>;
  Of<int64_t> dur_ns = kRequired<Of>;

  static constexpr AboutTable kAbout{"gpu_annotation", "User ranges projected onto a stream by the recorder"};
  static constexpr ColumnList kColumns{
      RowKey(),
      TraceKey(),
      RankKey(),
      ShownColumn<&GpuAnnotationColumns::name>("", "name of the range"),
      ShownColumn<&GpuAnnotationColumns::device>("", "device"),
      ShownColumn<&GpuAnnotationColumns::stream>("", "stream"),
      TimeColumn<&GpuAnnotationColumns::ts_ns>("start, in run time"),
      ShownColumn<&GpuAnnotationColumns::dur_ns>("ns", "duration"),
  };
};
using GpuAnnotationRow = GpuAnnotationColumns<InRow>;
using GpuAnnotationTable = TableFor<GpuAnnotationColumns>;

}  // namespace gapless::internal
