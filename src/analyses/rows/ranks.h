// SPDX-License-Identifier: Apache-2.0
// Table ranks, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct RanksRows : TypedRows<RanksRows> {
  static constexpr std::string_view kName = "ranks";
  static constexpr std::string_view kHelp =
      "Ranks side by side: own work, waiting for others, who comes last and what it is behind in";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      kDeviceColumn,
      {"steps", kInt, "", "complete steps"},
      {"step_ns", kInt, "ns", "median length of a step's window; NULL: no complete step"},
      {"wall_ns", kInt, "ns", "length of the analysed window"},
      {"own_ns", kInt, "ns",
       "the rank's own work: time in which operations of its complete steps compute, or only copy"},
      {"own_per_step_ns", kInt, "ns", "own_ns by steps; without steps the whole"},
      {"imbalance", kReal, "", "own_per_step_ns over that of the rank with least; NULL: one device, or no work"},
      {"exposed_comm_ns", kInt, "ns", "communication kernels run and nothing computes"},
      {"waiting_ns", kInt, "ns", "of that, waiting for other ranks; NULL: no collective matched over the ranks"},
      {"opening_waiting_ns", kInt, "ns",
       "the same up to the first collective all recorded, where recorders still start"},
      {"compared", kInt, "", "matched collectives after that"},
      {"times_last", kInt, "", "of these, came last by more than 10 µs: the others waited for it"},
      {"caused_wait_ns", kInt, "ns", "what the other ranks waited in those for it, summed over them"},
      {"times_first", kInt, "", "of these, waited longest"},
      {"kernels", kInt, "", "kernels of complete steps, without communication"},
      {"kernel_ns", kInt, "ns", "sum of their durations"},
      {"kernel_work_ns", kInt, "ns", "the same if every kernel took as long as on the median rank; NULL: one device"},
      {"slowdown", kReal, "", "kernel_ns over kernel_work_ns: above 1 the same kernels run more slowly here"},
      {"idle_data_ns", kInt, "ns", "idle while the host waits for the next batch"},
      {"idle_launch_ns", kInt, "ns", "idle while the host issues work"},
      {"idle_sync_ns", kInt, "ns", "idle while the host is in a call that blocks"},
      {"idle_host_ns", kInt, "ns", "idle while the host does something else"},
      {"idle_unknown_ns", kInt, "ns", "idle for a reason that was not recorded"},
      {"behind", kText, "",
       "what it takes most longer over than the median rank: more_kernel_work, slower_kernels, copies, data, launch, "
       "sync, "
       "host, unknown; NULL: nothing, or one device"},
      {"behind_ns", kInt, "ns", "how much longer, in every step; without steps in the whole"},
      {"behind_kernel", kText, "", "the kernel with most of that; NULL: it is behind in something else than kernels"},
  };
};

}  // namespace gapless::internal
