// SPDX-License-Identifier: Apache-2.0
// Table summed_ops, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct SummedOpsRows : TypedRows<SummedOpsRows> {
  static constexpr std::string_view kName = "summed_ops";
  static constexpr std::string_view kHelp =
      "Operators and kernels of a recording that is a summary, without a timeline";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"side", kText, "", "device: kernels, or operators by the work they launched; host: operators and calls"},
      {"name", kText, "", "as the profiler printed it"},
      {"class", kText, "", "what a kernel does, by its name; NULL: on the host"},
      {"calls", kInt, "", "how often"},
      {"total_ns", kInt, "ns",
       "own time of all calls; of the host with what they call where the own time is not known"},
      {"mean_ns", kInt, "ns", "of a call"},
      {"share", kReal, "share", "of the time of its side: of what the profiler gives as the total, else of all rows"},
  };
};

}  // namespace gapless::internal
