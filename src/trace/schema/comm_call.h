// SPDX-License-Identifier: Apache-2.0
// Collectives that a log names without times: equal ones are one row. In the order of their first.
#pragma once

#include "trace/columns.h"

namespace gapless::internal {

template <template <class> class Of>
struct CommCallColumns {
  Of<StringId> kind = kRequired<Of>;
  Of<int64_t> bytes = kUnset;
  Of<StringId> dtype = kUnset;
  Of<int64_t> ranks = kUnset;
  Of<StringId> algorithm = kUnset;
  Of<StringId> protocol = kUnset;
  Of<int64_t> channels = kUnset;
  Of<int64_t> calls = kRequired<Of>;

  static constexpr AboutTable kAbout{"comm_call", "Collectives that a log of NCCL names without times, counted"};
  static constexpr ColumnList kColumns{
      TraceKey(),
      ShownColumn<&CommCallColumns::kind>("", "all_reduce, all_gather, …"),
      ShownColumn<&CommCallColumns::bytes>("bytes", "message size"),
      ShownColumn<&CommCallColumns::dtype>("", "element type"),
      ShownColumn<&CommCallColumns::ranks>("", "ranks of the communicator"),
      ShownColumn<&CommCallColumns::algorithm>("", "RING, TREE, NVLS, …"),
      ShownColumn<&CommCallColumns::protocol>("", "LL, LL128, SIMPLE"),
      ShownColumn<&CommCallColumns::channels>("", "channels that carry it"),
      ShownColumn<&CommCallColumns::calls>("", "how often it stands in the log"),
  };
};
using CommCallRow = CommCallColumns<InTextView>;
using CommCallTable = TableFor<CommCallColumns>;

}  // namespace gapless::internal
