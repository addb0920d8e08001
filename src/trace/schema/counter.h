// SPDX-License-Identifier: Apache-2.0
// Values over time. Sorted by ts_ns.
#pragma once

#include "trace/columns.h"
#include "trace/enums.h"

namespace gapless::internal {

template <template <class> class Of>
struct CounterColumns {
  Of<StringId> name = kRequired<Of>;
  Of<StringId> unit = kUnset;
  Of<int32_t> device = kUnset;
  Of<int64_t> ts_ns = kRequired<Of>;
  Of<double> value = kRequired<Of>;

  static constexpr AboutTable kAbout{"counter", "Values over time"};
  static constexpr ColumnList kColumns{
      TraceKey(),
      RankKey(),
      ShownColumn<&CounterColumns::name>("", "what was counted"),
      ShownColumn<&CounterColumns::device>("", "device; NULL: none"),
      TimeColumn<&CounterColumns::ts_ns>("time, in run time"),
      ShownColumn<&CounterColumns::value>("", "the value"),
      ShownColumn<&CounterColumns::unit>("", "of the value"),
  };
};
using CounterRow = CounterColumns<InRow>;
using CounterTable = TableFor<CounterColumns>;

}  // namespace gapless::internal
