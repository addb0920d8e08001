// SPDX-License-Identifier: Apache-2.0
// Table gpu_state, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct GpuStateRows : TypedRows<GpuStateRows> {
  static constexpr std::string_view kName = "gpu_state";
  static constexpr std::string_view kHelp =
      "GPUs while the steps ran, by telemetry: throttling, heat, other processes, memory";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      kDeviceColumn,
      {"samples", kInt, "", "moments in which the GPU was asked"},
      {"span_ns", kInt, "ns", "from the first of them to the last"},
      {"utilization_share", kReal, "share", "mean share of time with a kernel running; NULL: not sampled"},
      {"throttled_share", kReal, "share", "samples slowed down by heat or the power supply; NULL: not sampled"},
      {"reason", kText, "", "the reason of most of these; NULL: none"},
      {"throttled_clock_hz", kReal, "Hz", "mean clock of the multiprocessors in these; NULL: none"},
      {"free_clock_hz", kReal, "Hz", "the same in samples without throttling and with work; NULL: none"},
      {"temperature_max", kReal, "degC", "highest temperature; NULL: not sampled"},
      {"foreign_share", kReal, "share", "samples with a process of others on the GPU; NULL: not known"},
      {"foreign_bytes", kReal, "bytes", "most memory of such processes; NULL: not known"},
      {"memory_peak_bytes", kReal, "bytes", "most memory in use; NULL: not sampled"},
      {"memory_bytes", kInt, "bytes", "memory of the GPU; NULL: not known"},
      {"sm_active_share", kReal, "share",
       "mean share of multiprocessor time with a warp resident (DCGM); NULL: not sampled"},
      {"dram_active_share", kReal, "share",
       "mean share of time in which device memory moves data (DCGM); NULL: not sampled"},
      {"power_watts", kReal, "W", "mean power of the board; NULL: not sampled"},
      {"power_peak_watts", kReal, "W", "highest power; NULL: not sampled"},
      {"power_limit_watts", kReal, "W", "limit of the power; NULL: not sampled"},
      {"capped_share", kReal, "share",
       "samples with the power at 97 % of its limit or more, or clocks held down by it; NULL: not known"},
      {"idle_share", kReal, "share", "samples with a utilisation of 5 % or less; NULL: not sampled"},
      {"idle_stretches", kInt, "", "stretches of such samples; NULL: not sampled"},
      {"longest_idle_ns", kInt, "ns", "the longest of them; NULL: not sampled"},
      {"pcie_generation", kReal, "", "highest generation of the PCIe link; NULL: not sampled"},
      {"pcie_generation_max", kReal, "", "the one that GPU and host can do; NULL: not sampled"},
      {"pcie_width", kReal, "lanes", "highest width of the PCIe link; NULL: not sampled"},
      {"pcie_width_max", kReal, "lanes", "the one that GPU and host can do; NULL: not sampled"},
      {"ecc_uncorrected", kReal, "errors", "memory errors that were not corrected; NULL: not sampled"},
      {"xid", kReal, "", "number of the last error that the driver reported, 0 for none; NULL: not sampled"},
  };
};

}  // namespace gapless::internal
