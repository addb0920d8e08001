// SPDX-License-Identifier: Apache-2.0
// Warnings and errors in logs of communication libraries: equal ones of a host are one row. In the order of their
// first.
#pragma once

#include "trace/columns.h"

namespace gapless::internal {

template <template <class> class Of>
struct CommMessageColumns {
  Of<StringId> host = kUnset;
  Of<StringId> level = kRequired<Of>;
  Of<StringId> text = kRequired<Of>;
  Of<StringId> place = kUnset;
  Of<int64_t> count = kRequired<Of>;
  Of<int64_t> line = kUnset;

  static constexpr AboutTable kAbout{"comm_message",
                                     "Warnings and errors of communication libraries, in their own words"};
  static constexpr ColumnList kColumns{
      TraceKey(),
      ShownColumn<&CommMessageColumns::host>("", "host that wrote it"),
      ShownColumn<&CommMessageColumns::level>("", "WARN or ERROR"),
      ShownColumn<&CommMessageColumns::text>("", "what it says"),
      ShownColumn<&CommMessageColumns::place>("", "source file and line of the library"),
      ShownColumn<&CommMessageColumns::count>("", "how often it stands in the log"),
      ShownColumn<&CommMessageColumns::line>("", "line of the file in which it stands first"),
  };
};
using CommMessageRow = CommMessageColumns<InTextView>;
using CommMessageTable = TableFor<CommMessageColumns>;

}  // namespace gapless::internal
