// SPDX-License-Identifier: Apache-2.0
// Table fusion, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct FusionRows : TypedRows<FusionRows> {
  static constexpr std::string_view kName = "fusion";
  static constexpr std::string_view kHelp =
      "Chains of operators that could be one kernel each, by the operators in them";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"kind", kText, "", "chain, or conv_norm: begins with a batch normalisation right after a convolution"},
      {"pattern", kText, "", "the operators in order, e.g. aten::mul > aten::add > aten::gelu"},
      {"links", kInt, "", "how many operators"},
      {"calls", kInt, "", "how often the chain occurs"},
      {"calls_per_step", kReal, "", "NULL: no complete step"},
      {"kernels", kInt, "", "kernels in all of them"},
      {"device_ns", kInt, "ns", "time of these kernels"},
      {"first_ns", kInt, "ns", "of it, the first operator: of conv_norm the normalisation"},
      {"removable_ns", kInt, "ns", "of it, at most this goes when each chain is one kernel: (links-1)/links"},
      {"share", kReal, "share", "device_ns of all device work of the trace"},
      {"bytes", kInt, "bytes",
       "that the operators move at least, each tensor once; NULL: shapes or types not recorded"},
      {"elements", kInt, "", "of the largest tensor in the longest of them; NULL: shapes were not recorded"},
      {"source_line", kText, "", "line of the user's code that called the first operator of the longest"},
      {"slice_id", kInt, "id:slice", "that operator"},
      {"gpu_op_id", kInt, "id:gpu_op", "its first kernel"},
  };
};

}  // namespace gapless::internal
