// SPDX-License-Identifier: Apache-2.0
// Calls of the operating system's library that a thread made: waits, reads, locks. Sorted by ts_ns. They are no slices:
// a slice is work that the program asked for, and a call of the system would hide it as the innermost.
#pragma once

#include "trace/columns.h"

namespace gapless::internal {

template <template <class> class Of>
struct OsCallColumns {
  Of<StringId> name = kRequired<Of>;
  Of<int64_t> pid = kUnset;
  Of<int64_t> tid = kUnset;
  Of<int64_t> ts_ns = kRequired<Of>;
  Of<int64_t> dur_ns = kRequired<Of>;

  static constexpr AboutTable kAbout{"os_call", "Calls of the operating system's library: waits, reads, locks"};
  static constexpr ColumnList kColumns{
      TraceKey(),
      RankKey(),
      ShownColumn<&OsCallColumns::name>("", "function that was called"),
      ShownColumn<&OsCallColumns::pid>("", "process"),
      ShownColumn<&OsCallColumns::tid>("", "thread"),
      TimeColumn<&OsCallColumns::ts_ns>("start, in run time; before 0: before the first slice or operation"),
      ShownColumn<&OsCallColumns::dur_ns>("ns", "duration"),
  };
};
using OsCallRow = OsCallColumns<InRow>;
using OsCallTable = TableFor<OsCallColumns>;

}  // namespace gapless::internal
