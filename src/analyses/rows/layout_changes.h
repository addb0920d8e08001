// SPDX-License-Identifier: Apache-2.0
// Table layout_changes, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct LayoutChangesRows : TypedRows<LayoutChangesRows> {
  static constexpr std::string_view kName = "layout_changes";
  static constexpr std::string_view kHelp = "Kernels that only change the memory layout for a library, by operator";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"operator", kText, "", "innermost operator that launches them; NULL: none recorded"},
      {"kernel", kText, "", "the kernel with the most time"},
      {"types", kText, "", "types of the operator's inputs at the longest; NULL: not recorded"},
      {"calls", kInt, "", "how many of these kernels"},
      {"calls_per_step", kReal, "", "NULL: no complete step"},
      {"device_ns", kInt, "ns", "their time"},
      {"operator_ns", kInt, "ns", "all kernels these operators launch"},
      {"share", kReal, "share", "device_ns of all device work of the trace"},
      {"source_line", kText, "", "line of the user's code, when stacks were recorded"},
      {"slice_id", kInt, "id:slice", "the operator of the longest"},
      {"gpu_op_id", kInt, "id:gpu_op", "the longest"},
  };
};

}  // namespace gapless::internal
