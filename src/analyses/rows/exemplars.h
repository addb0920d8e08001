// SPDX-License-Identifier: Apache-2.0
// Table exemplars, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct ExemplarsRows : TypedRows<ExemplarsRows> {
  static constexpr std::string_view kName = "exemplars";
  static constexpr std::string_view kHelp = "Recordings whose events stand for the job's: the few to look into first";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"why", kText, "",
       "slow: the first of slow_parts; waited_for: others wait for it most; longest_step; median: of own work in a "
       "step"},
      {"step", kInt, "", "its longest complete step; NULL: none"},
      {"ts_ns", kInt, "ns", "start of that step's window; NULL: none"},
      {"dur_ns", kInt, "ns", "its length; NULL: none"},
      {"path", kText, "", "file of the recording, as it was called when it was read"},
  };
};

}  // namespace gapless::internal
