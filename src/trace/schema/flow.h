// SPDX-License-Identifier: Apache-2.0
// Arrows between slices, as recorded. Both ends are there.
#pragma once

#include "trace/columns.h"
#include "trace/enums.h"

namespace gapless::internal {

template <template <class> class Of>
struct FlowColumns {
  Of<Derived<FlowKind>> kind = BeginsAs{FlowKind::kOther};
  Of<Derived<int64_t>> from_ts_ns = kUnset;
  Of<Derived<int64_t>> from_tid = kUnset;
  Of<Derived<int64_t>> to_ts_ns = kUnset;
  Of<Derived<int64_t>> to_tid = kUnset;

  static constexpr AboutTable kAbout{"flow", "Arrows between host slices and device work, as recorded"};
  static constexpr ColumnList kColumns{
      TraceKey(),
      RankKey(),
      ShownColumn<&FlowColumns::kind>("", "launch, fwdbwd or other"),
      TimeColumn<&FlowColumns::from_ts_ns>("start of the arrow, in run time"),
      ShownColumn<&FlowColumns::from_tid>("", "thread, or stream on the device side"),
      TimeColumn<&FlowColumns::to_ts_ns>("end of the arrow, in run time"),
      ShownColumn<&FlowColumns::to_tid>("", "thread, or stream on the device side"),
  };
};
using FlowRow = FlowColumns<InWhole>;
using FlowTable = TableFor<FlowColumns>;

}  // namespace gapless::internal
