// SPDX-License-Identifier: Apache-2.0
// The recorder's facts about the process: versions, settings, host. Sorted by key.
#pragma once

#include "trace/columns.h"
#include "trace/enums.h"

namespace gapless::internal {

template <template <class> class Of>
struct EnvironmentColumns {
  Of<StringId> key = kRequired<Of>;
  Of<StringId> value = kUnset;

  static constexpr AboutTable kAbout{"environment",
                                     "What the recorder said about the process: versions, settings, host"};
  static constexpr ColumnList kColumns{
      TraceKey(),
      ShownColumn<&EnvironmentColumns::key>("", "name of the setting"),
      ShownColumn<&EnvironmentColumns::value>("", "its value"),
  };
};
using EnvironmentRow = EnvironmentColumns<InTextView>;
using EnvironmentTable = TableFor<EnvironmentColumns>;

}  // namespace gapless::internal
