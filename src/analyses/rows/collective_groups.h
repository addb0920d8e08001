// SPDX-License-Identifier: Apache-2.0
// Table collective_groups, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct CollectiveGroupsRows : TypedRows<CollectiveGroupsRows> {
  static constexpr std::string_view kName = "collective_groups";
  static constexpr std::string_view kHelp =
      "Collectives by rank, process group and kind: transfer and waiting apart, bandwidth, who came last";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"device", kInt, "", "device number; NULL: on the host"},
      {"backend", kText, "", "library that carries it on the host: gloo, mpi, ucc; NULL: on the device"},
      {"group", kText, "", "process group; NULL: not recorded"},
      {"group_size", kInt, "", "ranks in the group; NULL: not recorded"},
      {"kind", kText, "", "all_reduce, all_gather, …"},
      {"calls", kInt, "", "kernels, or host calls where the backend has none"},
      {"calls_per_step", kReal, "", "NULL: no complete step"},
      {"matched", kInt, "", "of the calls: found on other ranks, too"},
      {"bytes", kInt, "bytes", "sum of message sizes; NULL: not recorded"},
      {"total_ns", kInt, "ns", "time in which any of them ran"},
      {"exposed_ns", kInt, "ns", "of that, time in which no kernel computed; NULL on the host"},
      {"transfer_ns", kInt, "ns", "of matched calls: shortest duration over the ranks, summed; NULL: none matched"},
      {"wait_ns", kInt, "ns", "the rest of their durations: waiting for other ranks; NULL: none matched"},
      {"opening_wait_ns", kInt, "ns",
       "the same for the first of the recording, where ranks still start their recorders"},
      {"algo_gbps", kReal, "GB/s", "bytes over transfer time, over duration where not matched; NULL: no sizes"},
      {"bus_gbps", kReal, "GB/s", "the same by the formulas of nccl-tests: comparable with the speed of the links"},
      {"best_bus_gbps", kReal, "GB/s",
       "the highest of a single call of 1 MiB and more, the one with least waiting in it; NULL: none"},
      {"best_bytes", kInt, "bytes", "size of that call's message"},
      {"start_lag_mean_ns", kInt, "ns", "start after the first rank's, mean of matched calls; needs clocks that agree"},
      {"times_last", kInt, "", "of matched calls: this rank came last, by more than 10 µs"},
      {"times_first", kInt, "", "of matched calls: this rank waited longest"},
      {"small_calls", kInt, "", "of the calls: messages below 256 KiB"},
      {"small_exposed_ns", kInt, "ns", "exposed time of those, known waiting left out; NULL on the host"},
      {"idle_ns", kInt, "ns",
       "on the host: idle time of the device meanwhile, mean over the devices; NULL on the device"},
      {"gpu_op_id", kInt, "id:gpu_op", "the longest; NULL on the host"},
      {"slice_id", kInt, "id:slice", "host call of the longest"},
  };
};

}  // namespace gapless::internal
