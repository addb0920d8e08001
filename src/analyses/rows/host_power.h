// SPDX-License-Identifier: Apache-2.0
// Table host_power, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct HostPowerRows : TypedRows<HostPowerRows> {
  static constexpr std::string_view kName = "host_power";
  static constexpr std::string_view kHelp =
      "Power of each host's processors and memory while the steps ran, by their energy counters (RAPL)";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"host", kText, "", "name of the host; empty: not recorded"},
      {"processor_watts", kReal, "W", "mean power of all processors; NULL: below ten updates of the counter"},
      {"memory_watts", kReal, "W", "mean power of the memory beside them; NULL: not counted apart"},
  };
};

}  // namespace gapless::internal
