// SPDX-License-Identifier: Apache-2.0
// Page faults of managed memory: somebody touched a page that was elsewhere. Sorted by ts_ns.
#pragma once

#include "trace/columns.h"

namespace gapless::internal {

template <template <class> class Of>
struct PageFaultColumns {
  Of<int64_t> pid = kUnset;
  Of<int32_t> device = kUnset;
  Of<int64_t> ts_ns = kRequired<Of>;
  Of<int64_t> dur_ns = kUnset;
  Of<int64_t> count = kUnset;
  Of<StringId> function = kUnset;

  static constexpr AboutTable kAbout{"page_fault",
                                     "Page faults of managed memory: a page that was touched was elsewhere"};
  static constexpr ColumnList kColumns{
      TraceKey(),
      RankKey(),
      ShownColumn<&PageFaultColumns::pid>("", "process"),
      ShownColumn<&PageFaultColumns::device>("", "GPU that touched the page; NULL: a processor did"),
      TimeColumn<&PageFaultColumns::ts_ns>("start, in run time"),
      ShownColumn<&PageFaultColumns::dur_ns>("ns", "until it was handled; NULL: not recorded"),
      ShownColumn<&PageFaultColumns::count>("", "faults that the row stands for; NULL: one"),
      ShownColumn<&PageFaultColumns::function>("", "function of the host that touched the page; NULL: of a GPU"),
  };
};
using PageFaultRow = PageFaultColumns<InRow>;
using PageFaultTable = TableFor<PageFaultColumns>;

}  // namespace gapless::internal
