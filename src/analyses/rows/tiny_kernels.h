// SPDX-License-Identifier: Apache-2.0
// Table tiny_kernels, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct TinyKernelsRows : TypedRows<TinyKernelsRows> {
  static constexpr std::string_view kName = "tiny_kernels";
  static constexpr std::string_view kHelp =
      "Kernels under 10 µs by the operator that launches them, with the gaps between them";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      kDeviceColumn,
      {"operator", kText, "", "innermost operator that launches them; NULL: none recorded"},
      {"kernels", kInt, "", "all its kernels, without communication"},
      {"short_kernels", kInt, "", "of these, shorter than 10 µs"},
      {"short_per_step", kReal, "", "NULL: no complete step"},
      {"short_ns", kInt, "ns", "time of the short ones"},
      {"gap_ns", kInt, "ns", "idle gaps under 10 µs of the device between a short one and the next short kernel"},
      {"mean_ns", kInt, "ns", "of a short one"},
      {"source_line", kText, "", "line of the user's code that launches the longest of them"},
      {"slice_id", kInt, "id:slice", "the operator that launches the longest of them"},
  };
};

}  // namespace gapless::internal
