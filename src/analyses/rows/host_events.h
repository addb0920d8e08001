// SPDX-License-Identifier: Apache-2.0
// Table host_events, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct HostEventsRows : TypedRows<HostEventsRows> {
  static constexpr std::string_view kName = "host_events";
  static constexpr std::string_view kHelp =
      "Compilation, garbage collection, checkpoints, memory calls: host time, and idle time meanwhile";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"kind", kText, "",
       "compilation, compiled_region, graph_recording, garbage_collection, checkpoint_save, recompute (activation "
       "checkpointing), module_load, device_alloc, device_free, host_alloc (pinned memory), forward passes of "
       "data_parallel, ddp, fsdp, and ddp_buffers: ddp packs the model's buffers to broadcast them; of serving "
       "engines engine_scheduling, detokenisation, preemption"},
      {"name", kText, "", "as recorded"},
      {"source_line", kText, "", "line of the user's code, when stacks were recorded"},
      {"calls", kInt, "", "how many"},
      {"calls_per_step", kReal, "", "NULL: no complete step"},
      {"steps_hit", kInt, "", "complete steps with at least one; NULL: no complete step"},
      {"total_ns", kInt, "ns", "host time"},
      {"max_ns", kInt, "ns", "longest"},
      {"idle_ns", kInt, "ns", "idle time of the device meanwhile, mean over the devices; NULL: no device"},
      {"later_calls", kInt, "", "in steps after the first complete one; NULL: no complete step"},
      {"later_total_ns", kInt, "ns", "host time of those"},
      {"later_idle_ns", kInt, "ns", "idle time of the device meanwhile; NULL: no device"},
      {"slice_id", kInt, "id:slice", "the longest"},
  };
};

}  // namespace gapless::internal
