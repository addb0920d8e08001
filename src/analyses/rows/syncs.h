// SPDX-License-Identifier: Apache-2.0
// Table syncs, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct SyncsRows : TypedRows<SyncsRows> {
  static constexpr std::string_view kName = "syncs";
  static constexpr std::string_view kHelp =
      "Synchronisations by call, operator and source line: waits, and the idle time that follows them";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"kind", kText, "", "device, stream, event, stream_wait, implicit (a copy that blocks)"},
      {"call", kText, "", "the host call; NULL: only the recorder's own row is known"},
      {"operator", kText, "", "outermost operator around it, e.g. aten::item"},
      {"annotation", kText, "", "innermost annotation around it that is not the step"},
      {"source_line", kText, "", "line of the user's code, when stacks were recorded"},
      {"calls", kInt, "", "how many"},
      {"calls_per_step", kReal, "", "NULL: no complete step"},
      {"wait_ns", kInt, "ns", "time threads (stream_wait: streams) were held up; NULL: not recorded"},
      {"mean_wait_ns", kInt, "ns", "mean"},
      {"max_wait_ns", kInt, "ns", "longest"},
      {"drained", kInt, "", "of the calls: a device ran out of work during the wait"},
      {"idle_after_ns", kInt, "ns",
       "idle time caused by missing launches that began during the waits, without data loading, mean over the devices"},
      {"avoidable_ns", kInt, "ns",
       "of that, of each wait at most its own length: the host would have come so much earlier"},
      {"sync_id", kInt, "id:sync", "the longest"},
      {"slice_id", kInt, "id:slice", "its host call"},
  };
};

}  // namespace gapless::internal
