// SPDX-License-Identifier: Apache-2.0
// Samples of host call stacks. Sorted by ts_ns.
#pragma once

#include "trace/columns.h"

namespace gapless::internal {

template <template <class> class Of>
struct SampleColumns {
  Of<int64_t> ts_ns = kRequired<Of>;
  Of<int64_t> tid = kUnset;
  Of<StackId> stack = kRequired<Of>;
  Of<int64_t> weight_ns = kUnset;
  Of<int64_t> count = kUnset;  // absent: one

  static constexpr AboutTable kAbout{"sample", "Samples of host call stacks"};
  static constexpr ColumnList kColumns{
      TraceKey(),
      RankKey(),
      TimeColumn<&SampleColumns::ts_ns>("time, in run time"),
      ShownColumn<&SampleColumns::tid>("", "thread"),
      ShownColumn<&SampleColumns::stack>("id:stack", "where the thread was").As("stack_id"),
      ShownColumn<&SampleColumns::weight_ns>("ns", "time the sample stands for"),
      ShownColumn<&SampleColumns::count>("", "how many samples the row stands for; NULL: one"),
  };
};
using SampleRow = SampleColumns<InRow>;
using SampleTable = TableFor<SampleColumns>;

}  // namespace gapless::internal
