// SPDX-License-Identifier: Apache-2.0
// Table kept_memory, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct KeptMemoryRows : TypedRows<KeptMemoryRows> {
  static constexpr std::string_view kName = "kept_memory";
  static constexpr std::string_view kHelp =
      "Memory that recorded steps allocate and do not give back, by line and operator";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"device", kInt, "", "device number; NULL: host memory"},
      {"source_line", kText, "", "line of the user's code that allocates; NULL: not recorded"},
      {"operator", kText, "", "operator that allocates; NULL: outside all operators"},
      {"steps", kInt, "", "recorded steps from which something is kept: more than half of all but the last two"},
      {"allocations", kInt, "", "what these steps allocated there and is still in use two steps later"},
      {"bytes", kInt, "bytes", "their sizes"},
      {"bytes_per_step", kReal, "bytes", "bytes over steps"},
  };
};

}  // namespace gapless::internal
