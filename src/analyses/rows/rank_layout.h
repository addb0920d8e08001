// SPDX-License-Identifier: Apache-2.0
// Table rank_layout, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct RankLayoutRows : TypedRows<RankLayoutRows> {
  static constexpr std::string_view kName = "rank_layout";
  static constexpr std::string_view kHelp = "Where each rank stands in the dimensions of the job (parallel_layout)";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"host", kText, "", "its host; NULL: not recorded"},
      {"data", kInt, "", "its place in its data group, from 0; NULL: in none, or not known; the others likewise"},
      {"tensor", kInt, "", "place in its tensor group"},
      {"pipeline", kInt, "", "its stage"},
      {"expert", kInt, "", "place in its expert group"},
      {"expert_data", kInt, "", "place among those with the same experts"},
      {"sequence", kInt, "", "place in its sequence group"},
      {"context", kInt, "", "place in its context group"},
      {"bubble_share", kReal, "share",
       "share of its time idle or in messages with nothing to compute; NULL: no pipeline"},
      {"expert_load", kReal, "", "its own work over the mean of its expert group; NULL: no experts"},
  };
};

}  // namespace gapless::internal
