// SPDX-License-Identifier: Apache-2.0
// Table idle, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct IdleRows : TypedRows<IdleRows> {
  static constexpr std::string_view kName = "idle";
  static constexpr std::string_view kHelp =
      "Each interval in which a whole device was idle, its causes and what the host was doing";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"id", kInt, "", "ordinal of the interval over the run"},
      kDeviceColumn,
      {"step", kInt, "", "step in whose window it begins; NULL: none"},
      {"ts_ns", kInt, "ns", "when the device went idle"},
      {"dur_ns", kInt, "ns", "for how long"},
      {"cause", kText, "", "the cause with the largest part: data, launch, sync, host, unknown"},
      {"data_ns", kInt, "ns", "part: the host waits for the next batch"},
      {"launch_ns", kInt, "ns", "part: the host issues work, or the device starts it"},
      {"sync_ns", kInt, "ns", "part: the host is in a call that blocks"},
      {"host_ns", kInt, "ns", "part: the host does something else"},
      {"unknown_ns", kInt, "ns", "part: not recorded"},
      {"previous_id", kInt, "id:gpu_op", "operation whose end began it"},
      {"next_id", kInt, "id:gpu_op", "operation whose start ended it"},
      {"launch_id", kInt, "id:slice", "call that launched that operation"},
      {"slice_id", kInt, "id:slice", "what the host had open in the longest part of the cause"},
      {"operator", kText, "", "outermost operator around that slice"},
      {"annotation", kText, "", "innermost annotation around it that is not the step"},
      {"source_line", kText, "", "line of the user's code, when stacks were recorded"},
  };
};

}  // namespace gapless::internal
