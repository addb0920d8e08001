// SPDX-License-Identifier: Apache-2.0
// Table set_aside, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct SetAsideRows : TypedRows<SetAsideRows> {
  static constexpr std::string_view kName = "set_aside";
  static constexpr std::string_view kHelp = "Stretches that are not analysed: edges without steady work, warm-up steps";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"kind", kText, "",
       "before, after: edge of a recording without steps; warm_up_steps: complete steps before the steady ones"},
      {"ts_ns", kInt, "ns", "its start"},
      {"dur_ns", kInt, "ns", "its length"},
      {"busy_ns", kInt, "ns", "of it, time in which some device works"},
      {"steps", kInt, "", "complete steps in it"},
  };
};

}  // namespace gapless::internal
