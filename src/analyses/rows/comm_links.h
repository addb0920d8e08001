// SPDX-License-Identifier: Apache-2.0
// Table comm_links, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct CommLinksRows : TypedRows<CommLinksRows> {
  static constexpr std::string_view kName = "comm_links";
  static constexpr std::string_view kHelp = "Pairs of ranks in NCCL's log by transport: channels, hosts";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"family", kText, "", "P2P, SHM, NET, …"},
      {"transport", kText, "", "as the log has it"},
      {"pairs", kInt, "", "pairs of sender and receiver"},
      {"channels", kInt, "", "channels over all pairs, each once"},
      {"least_channels", kInt, "", "channels of the pair that has fewest"},
      {"src_rank", kInt, "", "the first pair: sender …"},
      {"dst_rank", kInt, "", "… and receiver"},
  };
};

}  // namespace gapless::internal
