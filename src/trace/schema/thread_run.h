// SPDX-License-Identifier: Apache-2.0
// Times in which a thread was on a processor, as the scheduler switched it in and out. Sorted by ts_ns.
#pragma once

#include "trace/columns.h"

namespace gapless::internal {

template <template <class> class Of>
struct ThreadRunColumns {
  Of<int64_t> pid = kUnset;
  Of<int64_t> tid = kUnset;
  Of<int32_t> cpu = kUnset;
  Of<int64_t> ts_ns = kRequired<Of>;
  Of<int64_t> dur_ns = kRequired<Of>;

  static constexpr AboutTable kAbout{"thread_run", "Times in which a thread was on a processor"};
  static constexpr ColumnList kColumns{
      TraceKey(),
      RankKey(),
      ShownColumn<&ThreadRunColumns::pid>("", "process"),
      ShownColumn<&ThreadRunColumns::tid>("", "thread"),
      ShownColumn<&ThreadRunColumns::cpu>("", "processor"),
      TimeColumn<&ThreadRunColumns::ts_ns>("switched in, in run time; before 0: before the first slice or operation"),
      ShownColumn<&ThreadRunColumns::dur_ns>("ns", "until it was switched out"),
  };
};
using ThreadRunRow = ThreadRunColumns<InRow>;
using ThreadRunTable = TableFor<ThreadRunColumns>;

}  // namespace gapless::internal
