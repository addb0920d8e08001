// SPDX-License-Identifier: Apache-2.0
// Table sampled_gaps, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct SampledGapsRows : TypedRows<SampledGapsRows> {
  static constexpr std::string_view kName = "sampled_gaps";
  static constexpr std::string_view kHelp =
      "Samples of GPUs while the recorded program leaves them idle, and while it works on them";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      kDeviceColumn,
      {"gap_samples", kInt, "", "samples at the end of a second without an operation of the recording"},
      {"gap_utilization_share", kReal, "share", "mean utilisation in these: others' work; NULL: no sample"},
      {"gap_power_watts", kReal, "W", "mean power in these; NULL: not sampled"},
      {"busy_samples", kInt, "", "samples at the end of a second with operations for 90 % of it or more"},
      {"busy_utilization_share", kReal, "share", "mean utilisation in these; NULL: no sample"},
      {"busy_power_watts", kReal, "W", "mean power in these; NULL: not sampled"},
  };
};

}  // namespace gapless::internal
