// SPDX-License-Identifier: Apache-2.0
// Table kernels, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct KernelsRows : TypedRows<KernelsRows> {
  static constexpr std::string_view kName = "kernels";
  static constexpr std::string_view kHelp = "Kernels by name: calls, time, share, matrix units, occupancy";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      kDeviceColumn,
      {"name", kText, "", "name of the kernel"},
      {"class", kText, "", "what it computes: gemm, gemv, conv, attention, norm, …"},
      {"matrix_unit", kText, "", "runs on matrix units: yes, no, unknown"},
      {"calls", kInt, "", "how often it ran"},
      {"total_ns", kInt, "ns", "sum of its durations"},
      {"mean_ns", kInt, "ns", "mean duration"},
      {"min_ns", kInt, "ns", "shortest"},
      {"p50_ns", kInt, "ns", "median"},
      {"max_ns", kInt, "ns", "longest"},
      {"share", kReal, "share", "of the time of all kernels of the device"},
      {"occupancy_pct", kReal, "percent", "recorder's estimate of occupancy, mean weighted by duration"},
      {"gpu_op_id", kInt, "id:gpu_op", "its longest run"},
      {"library", kText, "", "library of the kernel, by its name: cublas, cudnn, triton, pytorch, …; NULL: unknown"},
      {"sm_share", kReal, "share",
       "multiprocessors its grids have blocks for, weighted by duration; NULL: not recorded"},
      {"long_ns", kInt, "ns", "of total_ns, runs of 10 µs and longer"},
      {"long_optimizer_ns", kInt, "ns", "of long_ns, launched inside an optimizer's step"},
      {"precision", kText, "",
       "operands it multiplies, by its name: fp64, fp32, tf32, fp16, …; unknown: it does not say, or multiplies none"},
      {"block_threads", kInt, "", "threads in a block of its longest run; NULL: not recorded"},
  };
};

}  // namespace gapless::internal
