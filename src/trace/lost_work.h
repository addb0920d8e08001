// SPDX-License-Identifier: Apache-2.0
// Work of the device that the program launched and the recording does not hold.
//
// Recorders lose operations: a buffer was full, the device reported no time, or one that cannot be (then the builder
// leaves the row out). What is missing looks like idle time, so it has to be counted before anybody speaks of idling.
//
// Counted are calls that launch kernels and graphs and have no operation. Not counted are those during the capture of a
// graph, which run nothing; those by calls of a name that no operation belongs to, since recorders list one launch as a
// call of the runtime and one of the driver, and join one of them; and those behind the last call with an operation,
// whose work began after the recording had ended.
#pragma once

#include <vector>

#include "trace/trace.h"

namespace gapless::internal {

struct LostWork {
  std::vector<SliceId> launches;  // in order of time
  std::vector<uint8_t> is_lost;   // by launch
};
LostWork FindLostWork(const Trace& trace);

// GPU operations that the recording lists without a time that can be; they are in no table.
int64_t OpsWithoutTime(const Trace& trace);

// Kinds of notes in read_stats, and the text of that which readers add to.
inline constexpr std::string_view kOpsWithoutTime = "gpu_ops_without_time";
inline constexpr std::string_view kOpsWithoutTimeText =
    "GPU operations have no time in the recording and were left out";
inline constexpr std::string_view kOverrunningOps = "overrunning_gpu_ops";

}  // namespace gapless::internal
