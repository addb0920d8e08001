// SPDX-License-Identifier: Apache-2.0
// Table recording_cost, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct RecordingCostRows : TypedRows<RecordingCostRows> {
  static constexpr std::string_view kName = "recording_cost";
  static constexpr std::string_view kHelp =
      "What recording adds to a recorded step, by comparison or by counting calls";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"method", kText, "", "compared: with steps that were not recorded; counted: by the recorded Python calls"},
      {"recorded_steps", kInt, "", "steps that were recorded"},
      {"recorded_ns", kInt, "ns", "their median"},
      {"other_steps", kInt, "", "compared: steps that were not recorded; NULL: counted"},
      {"other_ns", kInt, "ns", "compared: their median; NULL: counted"},
      {"calls_per_step", kInt, "", "counted: recorded Python calls in a step; NULL: compared"},
      {"added_ns", kInt, "ns", "estimate: what recording adds to a step"},
      {"added_share", kReal, "share", "of a recorded step"},
  };
};

}  // namespace gapless::internal
