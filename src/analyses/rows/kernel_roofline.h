// SPDX-License-Identifier: Apache-2.0
// Table kernel_roofline, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct KernelRooflineRows : TypedRows<KernelRooflineRows> {
  static constexpr std::string_view kName = "kernel_roofline";
  static constexpr std::string_view kHelp =
      "Measured kernels (ncu) under the roofs of their GPU: FLOPs and bytes as counted, by precision";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"launch_index", kInt, "", "the measured launch, as in kernel_metric"},
      {"kernel_name", kText, "", "name of the kernel, as its profiler prints it"},
      {"precision", kText, "",
       "fp64, fp32, fp16 of ordinary units; tensor, tensor_bf16_dst_fp32, … of matrix units: a row for each that "
       "works, "
       "the one nearest to its peak first"},
      {"duration_ns", kReal, "ns", "of the launch; NULL: not measured"},
      {"share", kReal, "share", "duration_ns of all measured launches"},
      {"tflops", kReal, "TFLOP/s", "reached, as counted; a fused multiply-add counts as two"},
      {"gbps", kReal, "GB/s", "moved from and to device memory; NULL: not counted"},
      {"intensity", kReal, "FLOP/byte", "tflops over gbps"},
      {"peak_tflops", kReal, "TFLOP/s", "of the units of this precision, at the clock while it was measured"},
      {"peak_gbps", kReal, "GB/s", "of device memory, at the clock while it was measured"},
      {"ceiling_tflops", kReal, "TFLOP/s", "most that is possible at this intensity: the lower of both roofs"},
      {"ceiling_share", kReal, "share", "tflops of it"},
      {"bound", kText, "", "the lower roof at this intensity: compute, memory; NULL: a peak was not recorded"},
  };
};

}  // namespace gapless::internal
