// SPDX-License-Identifier: Apache-2.0
// Host threads. Pids and tids that were no numbers get negative stand-ins and keep their text as name.
#pragma once

#include "trace/columns.h"
#include "trace/enums.h"

namespace gapless::internal {

template <template <class> class Of>
struct ThreadColumns {
  Of<int64_t> pid = kRequired<Of>;
  Of<int64_t> tid = kRequired<Of>;
  Of<StringId> name = kUnset;
  Of<StringId> process_name = kUnset;

  static constexpr AboutTable kAbout{"thread", "Host threads"};
  static constexpr ColumnList kColumns{
      TraceKey(),
      RankKey(),
      ShownColumn<&ThreadColumns::pid>("", "process"),
      ShownColumn<&ThreadColumns::tid>("", "thread; negative when the recorder gave a text, which is then the name"),
      ShownColumn<&ThreadColumns::name>("", "name of the thread"),
      ShownColumn<&ThreadColumns::process_name>("", "name of the process"),
  };
};
using ThreadRow = ThreadColumns<InTextView>;
using ThreadTable = TableFor<ThreadColumns>;

}  // namespace gapless::internal
