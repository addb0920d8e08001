// SPDX-License-Identifier: Apache-2.0
// Table data_loading, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct DataLoadingRows : TypedRows<DataLoadingRows> {
  static constexpr std::string_view kName = "data_loading";
  static constexpr std::string_view kHelp =
      "Waiting for batches by iterator and source line: calls, time, idle time it causes";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"name", kText, "", "the iterator as recorded, e.g. enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"},
      {"source_line", kText, "", "line of the user's code, when stacks were recorded"},
      {"workers", kInt, "", "0: batches are made in the training process; NULL: by workers, or not known"},
      {"multiprocess", kInt, "", "1: by worker processes; 0: in the training process; NULL: not known"},
      {"calls", kInt, "", "batches asked for"},
      {"calls_per_step", kReal, "", "NULL: no complete step"},
      {"total_ns", kInt, "ns", "host time spent waiting for them"},
      {"mean_ns", kInt, "ns", "mean"},
      {"max_ns", kInt, "ns", "longest"},
      {"idle_ns", kInt, "ns", "idle time of the device meanwhile, mean over the devices; NULL: no device"},
      {"h2d_pageable_share", kReal, "share",
       "of the time of host-to-device copies, from pageable memory; NULL: none, or not said"},
      {"slice_id", kInt, "id:slice", "the longest"},
  };
};

}  // namespace gapless::internal
