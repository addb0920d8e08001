// SPDX-License-Identifier: Apache-2.0
// Functions and lines of the host program, as a host profiler summed them up. Most own time first, as in the file.
#pragma once

#include "trace/columns.h"
#include "trace/enums.h"

namespace gapless::internal {

template <template <class> class Of>
struct HostFunctionColumns {
  Of<StringId> file = kRequired<Of>;
  Of<int64_t> line = kUnset;  // where the function begins; of a row about one line, that line
  Of<StringId> function = kUnset;
  Of<int64_t> calls = kUnset;
  Of<int64_t> self_ns = kUnset;
  Of<int64_t> total_ns = kUnset;
  Of<int64_t> bytes = kUnset;
  Of<int64_t> self_samples = kUnset;  // present where samples stand for no known time
  Of<int64_t> total_samples = kUnset;

  static constexpr AboutTable kAbout{"host_function", "Functions of the host program, as measured by a host profiler"};
  static constexpr ColumnList kColumns{
      TraceKey(),
      ShownColumn<&HostFunctionColumns::file>("", "source file"),
      ShownColumn<&HostFunctionColumns::line>("", "line in the file"),
      ShownColumn<&HostFunctionColumns::function>("", "name of the function; NULL: the row is about one line"),
      ShownColumn<&HostFunctionColumns::calls>("", "calls; of a line, how often it ran"),
      ShownColumn<&HostFunctionColumns::self_ns>("ns", "time in the function itself"),
      ShownColumn<&HostFunctionColumns::total_ns>("ns", "time in the function and what it calls"),
      ShownColumn<&HostFunctionColumns::bytes>("bytes", "allocated there and alive at the end, or at the peak"),
      ShownColumn<&HostFunctionColumns::self_samples>("", "samples in which it was the innermost; NULL: not sampled"),
      ShownColumn<&HostFunctionColumns::total_samples>("", "samples in which it stood anywhere"),
  };
};
using HostFunctionRow = HostFunctionColumns<InTextView>;
using HostFunctionTable = TableFor<HostFunctionColumns>;

}  // namespace gapless::internal
