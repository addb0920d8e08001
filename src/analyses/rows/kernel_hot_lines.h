// SPDX-License-Identifier: Apache-2.0
// Table kernel_hot_lines, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct KernelHotLinesRows : TypedRows<KernelHotLinesRows> {
  static constexpr std::string_view kName = "kernel_hot_lines";
  static constexpr std::string_view kHelp =
      "Where measured kernels spend their time (ncu): the lines, else instructions, with most samples";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"launch_index", kInt, "", "the measured launch, as in kernel_metric"},
      {"kernel_name", kText, "", "name of the kernel, as its profiler prints it"},
      {"file", kText, "", "source file; NULL: compiled without lines, the row is one instruction"},
      {"line", kInt, "", "line in it"},
      {"function", kText, "", "function of its busiest instruction; NULL: not recorded"},
      {"pc", kInt, "bytes", "place of that instruction from the function's beginning"},
      {"samples", kInt, "", "samples of warps there"},
      {"share", kReal, "share", "of all samples of the launch"},
      {"stall", kText, "", "most frequent reason why its warps did not go on; NULL: they always did"},
      {"stall_share", kReal, "share", "of the line's samples"},
      {"waits_for", kText, "", "that reason in words"},
  };
};

}  // namespace gapless::internal
