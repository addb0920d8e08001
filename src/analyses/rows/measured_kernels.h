// SPDX-License-Identifier: Apache-2.0
// Table measured_kernels, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct MeasuredKernelsRows : TypedRows<MeasuredKernelsRows> {
  static constexpr std::string_view kName = "measured_kernels";
  static constexpr std::string_view kHelp = "Kernels with hardware metrics (ncu), and what they take in the timeline";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"kernel_name", kText, "", "name of the kernel, as its profiler prints it"},
      {"grid", kText, "", "blocks of its grid: 1024x1x1; NULL: not recorded"},
      {"block", kText, "", "threads of a block: 256x1x1; NULL: not recorded"},
      {"launch_index", kInt, "", "first of its measured launches"},
      {"launches", kInt, "", "measured launches"},
      {"duration_ns", kReal, "ns", "mean duration while it was measured; NULL: not measured"},
      {"sm_pct", kReal, "percent", "compute throughput, of the peak; NULL: not measured"},
      {"dram_pct", kReal, "percent", "throughput of device memory, of the peak; NULL: not measured"},
      {"occupancy_pct", kReal, "percent", "resident warps, of the most possible; NULL: not measured"},
      {"warp_efficiency_pct", kReal, "percent",
       "active threads of an executed instruction, of a warp; NULL: not measured"},
      {"registers", kInt, "", "per thread; NULL: not measured"},
      {"shared_bytes", kInt, "bytes", "shared memory of a block; NULL: not measured"},
      {"calls", kInt, "", "launches of it in the timeline; NULL: it was not found there"},
      {"total_ns", kInt, "ns", "their time in the timeline; NULL: it was not found there"},
      {"gpu_op_id", kInt, "id:gpu_op", "the longest of them"},
  };
};

}  // namespace gapless::internal
