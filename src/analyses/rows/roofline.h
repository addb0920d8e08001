// SPDX-License-Identifier: Apache-2.0
// Table roofline, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct RooflineRows : TypedRows<RooflineRows> {
  static constexpr std::string_view kName = "roofline";
  static constexpr std::string_view kHelp =
      "Operators by inputs: FLOPs and bytes from shapes, speed, share of the device's roofline";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      kDeviceColumn,
      {"operator", kText, "", "innermost operator around the launches"},
      {"kind", kText, "", "gemm, conv, attention, norm, softmax, pointwise"},
      {"shapes", kText, "",
       "shapes of its inputs; of a weight's gradient, those of the backward pass that called it; NULL: not recorded"},
      {"dtype", kText, "", "element type of its first operand; NULL: not recorded"},
      {"calls", kInt, "", "how often it launched something"},
      {"device_ns", kInt, "ns", "time of what it launched"},
      {"matrix_ns", kInt, "ns", "of it, kernels that multiply matrices"},
      {"share", kReal, "share", "device_ns of all device work of the device"},
      {"flops", kReal, "FLOP",
       "FLOPs of one call, as executed: products 2·batch·m·n·k, convolutions 2·N·K·P·Q·(C/groups)·R·S, attention 2 "
       "products forward and 4 backward; NULL: the recorded inputs do not suffice"},
      {"model_flops", kReal, "FLOP", "of one call, without what is computed a second time"},
      {"bytes", kReal, "bytes", "of one call, each operand once"},
      {"tflops", kReal, "TFLOP/s", "reached"},
      {"gbps", kReal, "GB/s", "reached, each operand counted once"},
      {"intensity", kReal, "FLOP/byte", "flops over bytes"},
      {"matrix_unit", kText, "", "do its kernels run on matrix units, by time: yes, no, unknown"},
      {"peak_tflops", kReal, "TFLOP/s", "dense peak of the units used for this type; NULL: device or units not known"},
      {"peak_gbps", kReal, "GB/s", "of the device's memory"},
      {"bound", kText, "", "what limits it: compute, memory; NULL: not known"},
      {"roofline_share", kReal, "share", "least possible time over the time it took"},
      {"sm_share", kReal, "share", "multiprocessors its kernels have blocks for, weighted by time; NULL: not recorded"},
      {"batch", kInt, "", "as matrix products: how many"},
      {"m", kInt, "", "rows of a product"},
      {"n", kInt, "", "columns of a product"},
      {"k", kInt, "", "inner size of a product"},
      {"tiles_per_sm", kReal, "",
       "tiles of 128 by 128 of the result, per multiprocessor: products and forward convolutions"},
      {"source_line", kText, "", "line of the user's code that made the first call; NULL: not recorded"},
      {"slice_id", kInt, "id:slice", "its first call"},
      {"gpu_op_id", kInt, "id:gpu_op", "its longest kernel"},
  };
};

}  // namespace gapless::internal
