// SPDX-License-Identifier: Apache-2.0
// Table gpu_power, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct GpuPowerRows : TypedRows<GpuPowerRows> {
  static constexpr std::string_view kName = "gpu_power";
  static constexpr std::string_view kHelp =
      "Power of each GPU while the steps ran, by its energy counter and by samples";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      kDeviceColumn,
      {"counter_watts", kReal, "W", "mean power by the energy counter; NULL: below ten of its updates"},
      {"sampled_watts", kReal, "W", "mean of the sampled power; NULL: not sampled"},
      {"least_watts", kReal, "W", "lowest sampled power; NULL: not sampled"},
      {"utilization_share", kReal, "share", "mean share of time with a kernel running; NULL: not sampled"},
  };
};

}  // namespace gapless::internal
