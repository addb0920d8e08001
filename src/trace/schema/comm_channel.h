// SPDX-License-Identifier: Apache-2.0
// Connections between ranks as NCCL's log names them, in the order of the file.
#pragma once

#include "trace/columns.h"

namespace gapless::internal {

template <template <class> class Of>
struct CommChannelColumns {
  Of<StringId> host = kUnset;
  Of<int64_t> pid = kUnset;
  Of<StringId> comm = kUnset;
  Of<int64_t> channel = kRequired<Of>;
  Of<int64_t> src_rank = kRequired<Of>;
  Of<int64_t> dst_rank = kRequired<Of>;
  Of<StringId> direction = kUnset;
  Of<StringId> transport = kRequired<Of>;
  Of<StringId> family = kRequired<Of>;

  static constexpr AboutTable kAbout{"comm_channel",
                                     "Connections of communicators, from logs of NCCL: who reaches whom by what"};
  static constexpr ColumnList kColumns{
      TraceKey(),
      ShownColumn<&CommChannelColumns::host>("", "host that wrote the line"),
      ShownColumn<&CommChannelColumns::pid>("", "process that wrote it"),
      ShownColumn<&CommChannelColumns::comm>("", "communicator, as the log names it; NULL: the line has none"),
      ShownColumn<&CommChannelColumns::channel>("", "number of the channel"),
      ShownColumn<&CommChannelColumns::src_rank>("", "sender"),
      ShownColumn<&CommChannelColumns::dst_rank>("", "receiver"),
      ShownColumn<&CommChannelColumns::direction>("", "send or receive, the end that wrote the line; NULL: not said"),
      ShownColumn<&CommChannelColumns::transport>(
          "", "P2P/CUMEM, P2P/IPC, SHM/direct/direct, NET/IB/0/GDRDMA, NET/Socket/0, … as written"),
      ShownColumn<&CommChannelColumns::family>("", "P2P, SHM, NET, NVLS, CollNet"),
  };
};
using CommChannelRow = CommChannelColumns<InTextView>;
using CommChannelTable = TableFor<CommChannelColumns>;

}  // namespace gapless::internal
