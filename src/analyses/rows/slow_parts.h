// SPDX-License-Identifier: Apache-2.0
// Table slow_parts, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct SlowPartsRows : TypedRows<SlowPartsRows> {
  static constexpr std::string_view kName = "slow_parts";
  static constexpr std::string_view kHelp = "Ranks, hosts and links slower than those that do the same, beyond chance";
  static constexpr ColumnSpec kColumns[] = {
      {"trace", kInt, "", "recording of the rank that takes longest: key of table trace"},
      {"rank", kInt, "", "that rank; NULL: none recorded"},
      {"part", kText, "", "rank, ranks, host, hosts or group: the smallest part that the recordings tell from others"},
      {"kind", kText, "",
       "gpu, work, kernels (either), host, pauses, garbage, loader, copies: its own time; link: its connections"},
      {"ranks", kText, "", "its ranks: 12, 8-15, 0-24/8 (every eighth), 8-15,72"},
      {"host", kText, "", "its host; of several their names; NULL: not known, or a part of none"},
      {"group", kText, "", "process group of a link that is not known more closely"},
      {"what", kText, "", "kernel or collective with most of it"},
      {"late", kInt, "", "steps in which it was behind; of links: collectives and messages that took longer"},
      {"tried", kInt, "", "steps looked at, the first only for pauses; of links: collectives and messages"},
      {"ratio", kReal, "", "its time over that of the median of those that do the same"},
      {"excess_ns", kInt, "ns", "how much longer a step it takes: of several ranks the one that takes longest"},
      {"q_value", kReal, "",
       "share of such namings that chance would make (Benjamini and Hochberg), at most 0.01; 0: a collection was seen"},
      {"tests", kInt, "", "how many parts and measures were tested beside it"},
  };
};

}  // namespace gapless::internal
