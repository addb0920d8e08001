// SPDX-License-Identifier: Apache-2.0
// Table compute_use, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct ComputeUseRows : TypedRows<ComputeUseRows> {
  static constexpr std::string_view kName = "compute_use";
  static constexpr std::string_view kHelp =
      "FLOPs from shapes per device: per step, achieved, model FLOPs utilisation (MFU), coverage";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      kDeviceColumn,
      {"device_name", kText, "", "name of the device; NULL: not recorded"},
      {"wall_ns", kInt, "ns", "analysed time"},
      {"flops", kReal, "FLOP", "of matrix work whose shapes are known, without what is computed a second time"},
      {"flops_per_step", kReal, "FLOP", "NULL: no complete step"},
      {"tflops", kReal, "TFLOP/s", "flops over wall_ns"},
      {"busy_tflops", kReal, "TFLOP/s", "the same work over the time its own operators took"},
      {"dtype", kText, "", "element type with the most FLOPs"},
      {"peak_tflops", kReal, "TFLOP/s",
       "dense peak of the tensor cores for that type; of the ordinary units if the device has no tensor cores"},
      {"mfu", kReal, "", "0–1: tflops of peak_tflops; NULL: device or work not known"},
      {"coverage_share", kReal, "share",
       "of the time of matrix kernels, in operators whose FLOPs are known; below 1 mfu is a lower bound"},
  };
};

}  // namespace gapless::internal
